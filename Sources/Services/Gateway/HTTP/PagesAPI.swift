// SPDX-License-Identifier: Apache-2.0
package import GatewayCore
internal import HTTPServer
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// What a gateway serves to browsers besides the API: the pages, and for trying out tokens.
package struct PagesSettings: Sendable {
    /// The files.
    package var site: StaticSite
    /// The addresses of the gateways' WebSockets; empty: this gateway's, at the host that the browser asked.
    package var webSockets: [String]
    /// The origins besides the pages' own from which images are shown.
    package var imageOrigins: [String]
    /// Signs tokens for trying out; nil if none are given.
    package var demoTokens: DemoTokens?

    /// Makes settings.
    package init(
        site: StaticSite, webSockets: [String] = [], imageOrigins: [String] = [], demoTokens: DemoTokens? = nil
    ) {
        self.site = site
        self.webSockets = webSockets
        self.imageOrigins = imageOrigins
        self.demoTokens = demoTokens
    }
}

/// The routes of the pages: each file, the page's settings, tokens for trying out.
///
/// They need no token, and are not part of the API's description: they serve browsers, not apps.
struct PagesAPI: Sendable {
    private let gateway: Gateway
    private let pages: PagesSettings

    /// The file that is served at `/`.
    private static let index = "/pages/index.html"

    init(_ gateway: Gateway, _ pages: PagesSettings) {
        self.gateway = gateway
        self.pages = pages
    }

    /// Adds the routes.
    func add(to router: inout Router<HTTPHeadHandler>) {
        for file in self.pages.site.files {
            let handler: HTTPHeadHandler = { request in .reject(self.response(to: request, file)) }
            router.add(.get, file.path, handler)
            if file.path == Self.index { router.add(.get, "/", handler) }
        }
        router.add(.get, "/pages/settings.json") { request in .reject(self.settings(for: request)) }
        guard let tokens = self.pages.demoTokens else { return }
        router.add(.post, "/pages/demo-token") { request in
            do throws(APIError) {
                try tokens.check(
                    client: request.client, host: request.headers["host"], contentType: request.headers["content-type"])
            } catch {
                return .reject(error.response)
            }
            return .read { request, responder in responder.complete(self.demoToken(request, tokens)) }
        }
    }

    private func response(to request: HTTPRequest, _ file: StaticSite.File) -> HTTPResponse {
        let answer = StaticSite.answer(
            file, ifNoneMatch: request.headers["if-none-match"], acceptEncoding: request.headers["accept-encoding"])
        return HTTPResponse(
            status: answer.status,
            headers: answer.headers.map { HTTPHeader($0.name, $0.value) } + self.guards(for: request),
            body: answer.body)
    }

    /// The headers that confine what a page may do.
    private func guards(for request: HTTPRequest) -> [HTTPHeader] {
        [
            HTTPHeader(
                "Content-Security-Policy",
                StaticSite.securityPolicy(
                    webSockets: self.webSockets(for: request), imageOrigins: self.pages.imageOrigins)),
            HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
            HTTPHeader("Cross-Origin-Opener-Policy", "same-origin"),
            HTTPHeader("Permissions-Policy", "geolocation=(), payment=(), usb=()"),
        ]
    }

    /// The gateways' addresses as the browser that asks can reach them.
    private func webSockets(for request: HTTPRequest) -> [String] {
        if !self.pages.webSockets.isEmpty { return self.pages.webSockets }
        guard let host = request.headers["host"].flatMap({ WebOrigins.hostName(of: $0) }) else { return [] }
        return ["ws://\(host):\(self.gateway.port)"]
    }

    private func settings(for request: HTTPRequest) -> HTTPResponse {
        let body = JSONValue.object([
            "gateways": .array(self.webSockets(for: request).map { .text($0) }),
            "imageOrigins": .array(self.pages.imageOrigins.map { .text($0) }),
            "demoTokens": .bool(self.pages.demoTokens != nil),
        ])
        let headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
        return HTTPResponse(status: 200, headers: headers + self.guards(for: request), body: Wire.encode(body))
    }

    private func demoToken(_ request: HTTPRequest, _ tokens: DemoTokens) -> HTTPResponse {
        do throws(APIError) {
            guard let body = try? Wire.decode(JSONValue.self, from: request.body),
                case .text(let user) = body.members["user"]
            else {
                throw APIError(.badParameter, "give {\"user\": …, \"name\": …}")
            }
            var name: String?
            if case .text(let text) = body.members["name"], !text.isEmpty { name = text }
            let token = try tokens.token(user: user, name: name, now: WallClock.milliseconds() / 1000)
            let headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
            return HTTPResponse(
                status: 200, headers: headers, body: Wire.encode(JSONValue.object(["token": .text(token)])))
        } catch {
            return error.response
        }
    }
}
