// SPDX-License-Identifier: Apache-2.0
package import GatewayCore
internal import HTTPServer
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The settings of the browser pages that a gateway serves besides the API.
package struct PagesSettings: Sendable {
    /// The files.
    package var site: StaticSite
    /// The addresses to which the pages connect their WebSockets; if empty, the host of the browser's request with this
    /// gateway's port.
    package var webSockets: [String]
    /// The origins from which images are shown, besides the pages' own origin.
    package var imageOrigins: [String]
    /// Signs demo tokens; nil if no demo tokens are served.
    package var demoTokens: DemoTokens?

    /// Creates settings.
    package init(
        site: StaticSite, webSockets: [String] = [], imageOrigins: [String] = [], demoTokens: DemoTokens? = nil
    ) {
        self.site = site
        self.webSockets = webSockets
        self.imageOrigins = imageOrigins
        self.demoTokens = demoTokens
    }
}

/// The routes of the browser pages: the files, the pages' settings, and demo tokens.
///
/// They require no token. They serve browsers and not apps, so they are not part of the API's description.
struct PagesAPI: Sendable {
    private let gateway: Gateway
    private let pages: PagesSettings

    /// The file that is served at `/`.
    private static let indexPath = "/pages/index.html"

    init(_ gateway: Gateway, _ pages: PagesSettings) {
        self.gateway = gateway
        self.pages = pages
    }

    /// Adds the routes to a router.
    ///
    /// `.reject` sends a response without reading the request's body; successful responses are sent in this way, too.
    ///
    /// - Parameters:
    ///   - router: The router.
    ///   - limitingFiles: Adds to a handler each address's rate limit for files of the pages.
    ///   - limiting: Adds to a handler each address's rate limit for other requests without a token.
    func add(
        to router: inout Router<HTTPHeadHandler>, limitingFiles: (@escaping HTTPHeadHandler) -> HTTPHeadHandler,
        limiting: (@escaping HTTPHeadHandler) -> HTTPHeadHandler
    ) {
        for file in self.pages.site.files {
            let handler = limitingFiles { request in .reject(self.response(to: request, file)) }
            router.add(.get, file.path, handler)
            if file.path == Self.indexPath { router.add(.get, "/", handler) }
        }
        let settingsHandler = limiting { request in .reject(self.settings(for: request)) }
        router.add(.get, "/pages/settings.json", settingsHandler)
        guard let tokens = self.pages.demoTokens else { return }
        let demoTokenHandler = limiting { request in
            do throws(APIError) {
                let headers = request.headers
                try tokens.check(
                    client: request.client, host: headers["host"], contentType: headers["content-type"],
                    isForwarded: headers["x-forwarded-for"] != nil || headers["forwarded"] != nil)
            } catch {
                return .reject(error.response)
            }
            return .read { request, responder in responder.complete(self.demoToken(request, tokens)) }
        }
        router.add(.post, "/pages/demo-token", demoTokenHandler)
    }

    private func response(to request: HTTPRequest, _ file: StaticSite.File) -> HTTPResponse {
        let response = StaticSite.response(
            for: file, ifNoneMatch: request.headers["if-none-match"], acceptEncoding: request.headers["accept-encoding"]
        )
        return HTTPResponse(
            status: response.status,
            headers: response.headers.map { HTTPHeader($0.name, $0.value) } + self.securityHeaders(for: request),
            body: response.body)
    }

    /// Returns the security headers, which limit what a page may do.
    private func securityHeaders(for request: HTTPRequest) -> [HTTPHeader] {
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

    /// Returns the addresses of the gateways' WebSockets for the browser that makes the request.
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
        return HTTPResponse(status: 200, headers: headers + self.securityHeaders(for: request), body: Wire.encode(body))
    }

    private func demoToken(_ request: HTTPRequest, _ tokens: DemoTokens) -> HTTPResponse {
        do throws(APIError) {
            guard let body = try? Wire.decodeClientJSON(request.body),
                case .text(let user) = body.members["user"]
            else {
                throw APIError(.badParameter, "give {\"user\": …, \"name\": …}")
            }
            var name: String?
            if case .text(let text) = body.members["name"], !text.isEmpty { name = text }
            let token = try tokens.token(user: user, name: name, at: WallClock.now)
            let headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
            return HTTPResponse(
                status: 200, headers: headers, body: Wire.encode(JSONValue.object(["token": .text(token)])))
        } catch {
            return error.response
        }
    }
}
