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
/// The script `boundary_table.py` generates the cases from the catalogue of calls (`Golden/calls.json`) and from the
/// gateway's description of its HTTP API. It reads the codes that an answer may have from the pages of `docs`. It fails
/// if an answer has another code or reports a fault of the server. The extension in `BoundaryRecordTests.swift` tests
/// damaged records and rows.
@Suite(.serialized, .enabled(if: PythonPackages.hasPip, "needs python3 with pip")) struct BoundaryTableTests {
    @Test(.timeLimit(.minutes(6)))
    func `I16 no boundary value ends a process, and each request gets a documented answer in time`() async throws {
        let packages = try #require(PythonPackages.path, "the packages of Tests/requirements.txt are not there")
        var options = TestCluster.options()
        // The cases are sent faster than clients may send calls, so all rate limits are raised to a million.
        options.extraArguments[.gateway] =
            [
                "connections-per-user", "logins-per-minute", "joins-per-minute", "joins-of-live-per-minute",
                "replays-per-minute", "creations-per-second", "gifts-per-second", "device-changes-per-second",
                "reads-per-second", "sanctions-per-second", "calls-per-user", "server-connections-per-app",
                "server-logins-per-minute", "server-calls-per-second", "server-reads-per-second",
                "server-settings-per-second",
            ].flatMap { ["--\($0)", "1000000"] } + ["--reads-percent", "100"]
        try await TestCluster.with(options) { cluster in
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
            // The last line but one counts the answers by code. The last line begins with the number of cases.
            let summary = output.split(separator: "\n").suffix(2)
            print(summary.joined(separator: "\n"))
            let caseCount = Int(summary.last?.prefix { $0.isNumber } ?? "") ?? 0
            // The real number is higher. A much lower one means that the script did not find the calls or operations.
            #expect(caseCount > 45_000, "too few cases were sent")
            #expect(end == .exited(0), "the script found faults: \(output.suffix(8000))")
            // The cluster does not restart processes, so an ended process stays visible.
            #expect(cluster.processes.allSatisfy { $0.restarts == 0 && $0.lastExitDescription == nil })
            try await harness.playScenario()
        }
    }
}
