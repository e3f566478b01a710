// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import Observability

/// Answers `livez`, `readyz` and `metrics` on the ops port, which must never be public.
package struct OpsRoutes: Sendable {
    private let metrics: MetricsRegistry
    private let health: @Sendable () -> ServiceHealth

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - metrics: the registry that `/metrics` shows.
    ///   - health: returns the service's health at the time of a request.
    package init(metrics: MetricsRegistry, health: @escaping @Sendable () -> ServiceHealth) {
        self.metrics = metrics
        self.health = health
    }

    var handler: HTTPHandler {
        { request, responder in responder.complete(self.respond(to: request)) }
    }

    /// The response to a request of a probe or of a metrics collector.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return .text("only GET is answered here\n", status: 405)
        }
        switch request.path {
        case "/livez":
            let health = self.health()
            return health.isLive
                ? .text("alive\n") : .text("hangs: \(health.hungOrStalled.joined(separator: ", "))\n", status: 503)
        case "/readyz":
            let health = self.health()
            return .text("\(health.readinessText)\n", status: health.isReady ? 200 : 503)
        case "/metrics":
            return HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", PrometheusText.contentType)],
                body: Array(PrometheusText.render(self.metrics).utf8))
        default: return .text("there are /livez, /readyz and /metrics\n", status: 404)
        }
    }
}
