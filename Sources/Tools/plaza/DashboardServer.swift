// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import DashboardKit
import GatewayCore
import HTTPServer

/// The dashboard's HTTP server on loopback: serves the page's files and data, and kills a process if the page asks.
final class DashboardServer: Sendable {
    private let server: WebServer

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - cluster: the cluster to show.
    ///   - site: the files of the pages.
    ///   - port: the port, or 0 for any free one.
    ///   - mayKill: whether the page may kill processes.
    /// - Throws: `HTTPServerError` when the port is in use.
    init(_ cluster: DashboardCluster, site: StaticSite, port: UInt16, mayKill: Bool) throws {
        var router = Router<HTTPHandler>()
        for file in site.files {
            let handler: HTTPHandler = { request, responder in responder.complete(Self.page(file, for: request)) }
            router.add(.get, file.path, handler)
            if file.path == "/pages/ops/index.html" { router.add(.get, "/", handler) }
        }
        router.add(.get, "/ops/settings") { _, responder in
            responder.complete(Self.json(Array(#"{"mayKill":\#(mayKill)}"#.utf8)))
        }
        router.add(.get, "/ops/report") { request, responder in
            let number = request.query.first { $0.name == "from" }.flatMap { Int($0.value) } ?? 0
            responder.complete(Self.json(cluster.report(from: max(0, number))))
        }
        router.add(.get, "/ops/lives") { _, responder in
            Self.forward(cluster, "/v1/lives?count=30", to: responder)
        }
        for resource in ["count", "statistics", "stage"] {
            router.add(.get, "/ops/lives/{live}/\(resource)") { request, responder in
                // The path is forwarded percent-encoded, as it was received.
                Self.forward(cluster, "/v1\(request.path.dropFirst("/ops".count))", to: responder)
            }
        }
        router.add(.post, "/ops/processes/{name}/kill") { request, responder in
            Task {
                let isKilled = mayKill ? await cluster.kill(request.parameters["name"] ?? "") : false
                responder.complete(isKilled ? HTTPResponse(status: 204) : Self.failure(409))
            }
        }
        let handler = router.handler()
        // With port 0 the port is known only when the server listens. Until then every request is rejected.
        let requestGuard = Locked<RequestGuard?>(nil)
        var limits = HTTPLimits()
        // The page sends no bodies.
        limits.bodyBytes = 1024
        self.server = try WebServer(host: "127.0.0.1", port: port, limits: limits) { request, responder in
            let isChange = request.method != .get && request.method != .head
            let current = requestGuard.withLock { $0 }
            guard let current, current.allows(request.headers, isChange: isChange) else {
                responder.complete(Self.failure(403))
                return
            }
            handler(request, responder)
        }
        let guardForPort = RequestGuard(port: self.server.port)
        requestGuard.withLock { $0 = guardForPort }
    }

    /// The port on which the server listens.
    var port: UInt16 { self.server.port }

    /// Stops the server.
    func stop() { self.server.stop() }

    /// The security headers of every response.
    private static let securityHeaders = [
        HTTPHeader(
            "Content-Security-Policy", StaticSite.securityPolicy(webSockets: [], imageOrigins: [])),
        HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
        HTTPHeader("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static func page(_ file: StaticSite.File, for request: HTTPRequest) -> HTTPResponse {
        let response = StaticSite.response(
            for: file, ifNoneMatch: request.headers["if-none-match"],
            acceptEncoding: request.headers["accept-encoding"])
        let headers = response.headers.map { HTTPHeader($0.name, $0.value) }
        return HTTPResponse(status: response.status, headers: headers + Self.securityHeaders, body: response.body)
    }

    private static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        let headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
        return HTTPResponse(status: status, headers: headers + Self.securityHeaders, body: body)
    }

    private static func failure(_ status: Int) -> HTTPResponse { Self.json(Array("{}".utf8), status: status) }

    /// Reads `path` from a gateway and sends its response; status 502 when no gateway responds.
    private static func forward(_ cluster: DashboardCluster, _ path: String, to responder: HTTPResponder) {
        Task {
            guard let response = await cluster.readFromGateway(path) else {
                responder.complete(Self.failure(502))
                return
            }
            responder.complete(Self.json(Array(response.body.utf8), status: response.status))
        }
    }
}
