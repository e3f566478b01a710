// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import Observability

/// `livez`, `readyz` and `metrics`: the port that is never public.
struct OpsRoutes: Sendable {
    private let host: ServiceHost

    init(_ host: ServiceHost) { self.host = host }

    var handler: HTTPHandler {
        { request, responder in responder.complete(self.respond(to: request)) }
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return .text("only GET is answered here\n", status: 405)
        }
        switch request.path {
        case "/livez":
            let hanging = self.host.hanging
            return hanging.isEmpty
                ? .text("alive\n") : .text("hangs: \(hanging.joined(separator: ", "))\n", status: 503)
        case "/readyz":
            let waiting = self.host.waitingFor
            return waiting.isEmpty
                ? .text("ready\n") : .text("waits for: \(waiting.joined(separator: ", "))\n", status: 503)
        case "/metrics":
            return HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", PrometheusText.contentType)],
                body: Array(PrometheusText.render(self.host.metrics).utf8))
        default: return .text("there are /livez, /readyz and /metrics\n", status: 404)
        }
    }
}
