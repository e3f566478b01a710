// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import HTTPServer
import Testing

/// Tests of the table of `plaza status`.
@Suite struct StatusTableTests {
    /// The state of a cluster with these processes, which are JSON objects separated by commas.
    private func state(_ processes: String) throws -> ClusterState {
        let json = """
            {"version": 1, "supervisor": 1, "isWhole": true, "broker": "embedded", "kafka": "127.0.0.1:9092",
             "brokers": 1, "redis": "127.0.0.1:6379", "partitions": 2, "apps": "apps.json", "gateways": [],
             "processes": [\(processes)]}
            """
        return try JSONDecoder().decode(ClusterState.self, from: Data(json.utf8))
    }

    /// The JSON object of a process whose operations port (`/readyz`, metrics) is `opsPort`, with further members.
    private func process(_ name: String, opsPort: Int, _ members: String = #""pid": 7, "ready": true"#) -> String {
        """
        {"name": "\(name)", "kind": "service", "opsPort": \(opsPort), "ports": {}, "log": "", "restarts": 0, \(members)}
        """
    }

    @Test func `the table shows each process with its state and the reason of a bad state`() throws {
        let state = try self.state(
            [
                self.process("gateway-1", opsPort: 1),
                self.process("audience-presence-1", opsPort: 2, #""pid": 8, "ready": true, "degraded": "no Redis""#),
                self.process(
                    "room-directory-1", opsPort: 3, #""pid": 9, "ready": false, "problem": "waits for: kafka""#),
                self.process("cohost-battle-1", opsPort: 4, #""ready": false, "lastEnd": "was ended by signal 9""#),
            ].joined(separator: ","))
        #expect(
            state.statusTable.components(separatedBy: "\n") == [
                "gateway-1              ready     pid 7  ops 1",
                "audience-presence-1    degraded  pid 8  ops 2  no Redis",
                "room-directory-1       not ready pid 9  ops 3  waits for: kafka",
                "cohost-battle-1        down      was ended by signal 9  ops 4",
                "2 not ready",
            ])
    }

    // The status and text of the response, the state in the table, and what is degraded.
    @Test(
        arguments: [
            (200, "ready\n", "ready    ", nil),
            (200, "ready; degraded: presence without Redis\n", "degraded ", "presence without Redis"),
            (503, "waits for: audience; degraded: presence without Redis\n", "not ready", nil),
        ] as [(Int, String, String, String?)])
    func `the table shows a process as ready, degraded or not ready by its response at readyz`(
        status: Int, text: String, shownState: String, degradation: String?
    ) async throws {
        let server = try WebServer(host: "127.0.0.1", port: 0) { _, responder in
            responder.complete(.text(text, status: status))
        }
        defer { server.stop() }
        let state = try await self.state(self.process("presence-1", opsPort: Int(server.port))).checkingReadiness()
        #expect(state.isReady == (status == 200))
        #expect(state.processes.first?.degradation == degradation)
        #expect(state.statusTable.contains("presence-1             \(shownState) pid 7"))
    }
}
