// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import Observability

/// Answers `livez`, `readyz` and `metrics` on the ops port, which must never be public.
struct OpsRoutes: Sendable {
    private let host: ServiceHost

    init(_ host: ServiceHost) { self.host = host }

    var handler: HTTPHandler {
        { request, responder in responder.complete(self.respond(to: request)) }
    }

    /// The response to a request of a probe or of a metrics collector.
    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return .text("only GET is answered here\n", status: 405)
        }
        switch request.path {
        case "/livez":
            let hungComponents = self.host.hungComponents
            return hungComponents.isEmpty
                ? .text("alive\n") : .text("hangs: \(hungComponents.joined(separator: ", "))\n", status: 503)
        case "/readyz":
            let unreadyComponents = self.host.unreadyComponents
            let hungComponents = self.host.hungComponents
            var problems: [String] = []
            if !unreadyComponents.isEmpty { problems.append("waits for: \(unreadyComponents.joined(separator: ", "))") }
            if !hungComponents.isEmpty {
                problems.append("makes no progress: \(hungComponents.joined(separator: ", "))")
            }
            return problems.isEmpty
                ? .text("ready\n") : .text("\(problems.joined(separator: "; "))\n", status: 503)
        case "/metrics":
            return HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", PrometheusText.contentType)],
                body: Array(PrometheusText.render(self.host.metrics).utf8))
        default: return .text("there are /livez, /readyz and /metrics\n", status: 404)
        }
    }
}
