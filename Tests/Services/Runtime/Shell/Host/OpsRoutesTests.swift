// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Observability
import ServiceShell
import Testing

/// Tests of the routes `/readyz` and `/livez`, which report whether a service is ready and alive.
@Suite struct OpsRoutesTests {
    /// The status and the text of the answer of a service with this health.
    private func answer(_ path: String, _ health: ServiceHealth) throws -> (status: Int, text: String) {
        let routes = OpsRoutes(metrics: MetricsRegistry()) { health }
        let response = routes.respond(to: try #require(HTTPRequest(method: .get, path: path)))
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test func `a service whose parts all work is ready and alive`() throws {
        #expect(try self.answer("/readyz", ServiceHealth()) == (200, "ready\n"))
        #expect(try self.answer("/livez", ServiceHealth()) == (200, "alive\n"))
    }

    @Test func `a service with unready parts is alive but not ready, and a service with stuck parts is neither`()
        throws
    {
        let unreadyHealth = ServiceHealth(unready: ["directory", "barrage"])
        #expect(try self.answer("/readyz", unreadyHealth) == (503, "waits for: directory, barrage\n"))
        #expect(try self.answer("/livez", unreadyHealth) == (200, "alive\n"))
        // The loop of a hung part does not turn. A stalled part has work and makes no progress. The answers to a probe
        // are the same for both, so `ServiceHealth` has one list for them.
        let stuckHealth = ServiceHealth(hungOrStalled: ["audience"])
        #expect(try self.answer("/readyz", stuckHealth) == (503, "makes no progress: audience\n"))
        #expect(try self.answer("/livez", stuckHealth) == (503, "hangs: audience\n"))
    }

    @Test func `a degraded service is ready and alive, and its readiness text says what is degraded`() throws {
        var health = ServiceHealth(degraded: ["presence without Redis"])
        #expect(try self.answer("/readyz", health) == (200, "ready; degraded: presence without Redis\n"))
        #expect(try self.answer("/livez", health) == (200, "alive\n"))
        // Now the service is degraded and also unready.
        health.unready = ["audience"]
        let text = "waits for: audience; degraded: presence without Redis\n"
        #expect(try self.answer("/readyz", health) == (503, text))
    }

    @Test func `an unknown path is answered with 404, and a POST with 405`() throws {
        #expect(try self.answer("/", ServiceHealth()).status == 404)
        let post = try #require(HTTPRequest(method: .post, path: "/readyz"))
        #expect(OpsRoutes(metrics: MetricsRegistry()) { ServiceHealth() }.respond(to: post).status == 405)
    }
}
