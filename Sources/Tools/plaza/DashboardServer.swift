// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import DashboardKit
import GatewayCore
import HTTPServer

/// The dashboard's HTTP server on loopback: serves the files of the page, its data, and its requests to kill a process.
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
            let handler: HTTPHandler = { request, responder in responder.complete(Self.answer(request, file)) }
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
            Self.pass(cluster, "/v1/lives?count=30", to: responder)
        }
        for part in ["count", "statistics", "stage"] {
            router.add(.get, "/ops/lives/{live}/\(part)") { request, responder in
                // The path is passed on as it was received: percent-encoded.
                Self.pass(cluster, "/v1\(request.path.dropFirst("/ops".count))", to: responder)
            }
        }
        router.add(.post, "/ops/processes/{name}/kill") { request, responder in
            let isKilled = mayKill && cluster.kill(request.parameters["name"] ?? "")
            responder.complete(isKilled ? HTTPResponse(status: 204) : Self.failure(409))
        }
        let handler = router.handler()
        // With port 0 the port is known only when the server listens; until then nothing is answered.
        let gate = Locked<RequestGuard?>(nil)
        var limits = HTTPLimits()
        limits.bodyBytes = 1024
        self.server = try WebServer(host: "127.0.0.1", port: port, limits: limits) { request, responder in
            let changes = request.method != .get && request.method != .head
            guard let gate = gate.withLock({ $0 }), gate.allows(request.headers, changes: changes) else {
                responder.complete(Self.failure(403))
                return
            }
            handler(request, responder)
        }
        let guardOfPort = RequestGuard(port: self.server.port)
        gate.withLock { $0 = guardOfPort }
    }

    /// The port at which it listens.
    var port: UInt16 { self.server.port }

    /// Stops the server.
    func stop() { self.server.stop() }

    private static let headers = [
        HTTPHeader(
            "Content-Security-Policy", StaticSite.securityPolicy(webSockets: [], imageOrigins: [])),
        HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
        HTTPHeader("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static func answer(_ request: HTTPRequest, _ file: StaticSite.File) -> HTTPResponse {
        let answer = StaticSite.answer(
            file, ifNoneMatch: request.headers["if-none-match"], acceptEncoding: request.headers["accept-encoding"])
        let headers = answer.headers.map { HTTPHeader($0.name, $0.value) }
        return HTTPResponse(status: answer.status, headers: headers + Self.headers, body: answer.body)
    }

    private static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        let headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
        return HTTPResponse(status: status, headers: headers + Self.headers, body: body)
    }

    private static func failure(_ status: Int) -> HTTPResponse { Self.json(Array("{}".utf8), status: status) }

    /// Answers with what a gateway answers.
    private static func pass(_ cluster: DashboardCluster, _ path: String, to responder: HTTPResponder) {
        Task {
            guard let answer = await cluster.read(path) else {
                responder.complete(Self.failure(502))
                return
            }
            responder.complete(Self.json(Array(answer.body.utf8), status: answer.status))
        }
    }
}
