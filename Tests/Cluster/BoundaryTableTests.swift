// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import TestSupport
import Testing

/// Sends boundary values to a running cluster: in every parameter of every call and HTTP operation, and in every frame
/// field, token claim and handshake header (I16, everything has a limit).
///
/// `boundary_table.py` generates the cases from the catalogue of calls (`Golden/calls.json`, whose completeness another
/// test checks) and from the gateway's description of its HTTP API. The pages in `docs` tell it which codes an answer
/// may have. An answer that blames the server is a failure. `BoundaryRecordTests.swift` tests the records and rows that
/// a broker delivers.
@Suite(.serialized, .enabled(if: PythonPackages.hasPip, "needs python3 with pip")) struct BoundaryTableTests {
    @Test(.timeLimit(.minutes(6)))
    func `I16 no boundary value ends a process, and each request gets a documented answer in time`() async throws {
        let packages = try #require(PythonPackages.path, "the packages of Tests/requirements.txt are not there")
        var options = LiveCluster.options()
        // The cases are sent faster than a client may send calls, so the rate limits are raised.
        options.extraArguments[.gateway] = [
            "connections-per-user", "logins-per-minute", "joins-per-minute", "joins-of-live-per-minute",
            "gifts-per-second", "device-changes-per-second", "reads-per-second", "sanctions-per-second",
            "calls-per-user", "server-connections-per-app", "server-logins-per-minute", "server-calls-per-second",
            "server-reads-per-second",
        ].flatMap { ["--\($0)", "1000000"] }
        try await LiveCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let gateway = try #require(cluster.gateways.first)
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
            let arguments = [
                "python3", folder.appending(path: "boundary_table.py").path,
                folder.appending(path: "../Model/PlazaWire/Golden/calls.json").path,
                folder.appending(path: "../../docs").path, "ws://\(gateway.host):\(gateway.port)/v1",
                gateway.http,
            ]
            var environment = PythonPackages.environment(packages: packages)
            environment["BOUNDARY_APPS"] = cluster.directory.appsFile
            let (end, output) = try await runOnDedicatedThread { [environment] in
                try TestProcess.run(arguments, environment: environment)
            }
            let summary = output.split(separator: "\n").suffix(2)
            print(summary.joined(separator: "\n"))
            // The last line begins with the number of cases.
            let caseCount = summary.last?.prefix { $0.isNumber }
            // The script sends more cases than that; far fewer would mean that it did not find the calls or operations.
            #expect(caseCount.flatMap { Int($0) } ?? 0 > 45_000, "too few cases were sent")
            #expect(end == .exited(0), "\(output.suffix(8000))")
            // The cluster does not restart processes, so an ended process stays visible.
            #expect(cluster.processes.allSatisfy { $0.restarts == 0 && $0.lastExitDescription == nil })
            try await harness.playScenario()
        }
    }
}
