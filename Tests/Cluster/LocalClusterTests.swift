// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Foundation
import TestSupport
import Testing

/// Tests of how `LocalCluster` supervises its processes, with small scripts in place of the services.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LocalClusterTests {
    /// A fake service: prints its option `--kafka`, and answers each GET with 200, so it counts as ready.
    static let serviceScript = """
        #!/usr/bin/env python3
        import http.server, os, signal, sys
        options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200); self.end_headers(); self.wfile.write(b'ready')
            def log_message(self, *ignored): pass
        print('kafka', options['--kafka'], flush=True)
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        http.server.ThreadingHTTPServer(('127.0.0.1', int(options['--ops-port'])), Handler).serve_forever()
        """

    /// The folder of one test, for the programs and the run directory.
    private let scratch: ScratchFolder

    init() throws { self.scratch = try ScratchFolder() }

    /// Creates a directory in which each service is the fake one and `plaza` is the real one.
    ///
    /// - Returns: the path of the directory.
    private func makePrograms() throws -> String {
        let directory = self.scratch.path + "/programs"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for kind in ServiceKind.allCases {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
            let path = directory + "/" + kind.rawValue
            let script = Data(Self.serviceScript.utf8)
            #expect(FileManager.default.createFile(atPath: path, contents: script, attributes: attributes))
        }
        let plaza = try ProgramFinder().path(of: "plaza")
        try FileManager.default.createSymbolicLink(atPath: directory + "/plaza", withDestinationPath: plaza)
        return directory
    }

    /// Options of a cluster of fake services, with the test's own run directory.
    private func options(kafkaBrokers brokers: Int? = nil) throws -> ClusterOptions {
        var options = TestCluster.options(kafkaBrokers: brokers)
        options.runDirectory = self.scratch.path + "/run"
        options.binaryDirectory = try self.makePrograms()
        return options
    }

    /// Waits until processes have ended.
    ///
    /// A process can wait only for its own children. These processes are children of others, so `tail --pid` of
    /// coreutils watches them.
    static func awaitEnd(of pids: [Int32]) async throws {
        for pid in pids {
            let tail = try TestProcess(["tail", "-s", "0.02", "--pid=\(pid)", "-f", "/dev/null"])
            #expect(await tail.awaitEnd() == .exited(0))
        }
    }

    @Test func `a cluster becomes ready, reports its addresses, and leaves no process when it stops`() async throws {
        var options = try self.options()
        options.scale = [.gateway: 2, .cohostBattle: 0]
        let directory = options.runDirectory
        let pids = try await TestCluster.with(options) { cluster in
            let state = try ClusterState.read(runDirectory: directory)
            #expect(
                state.processes.map(\.name) == [
                    "redis", "broker-1", "room-directory-1", "audience-presence-1", "barrage-fanout-1", "gateway-1",
                    "gateway-2",
                ])
            #expect(await state.checkingReadiness().isReady)
            #expect(state.gateways.count == 2 && state.gateways == cluster.gateways)
            #expect(HealthProbe.kafkaAnswers(bootstrap: state.kafka))
            return state.processes.compactMap(\.pid)
        }
        #expect(pids.count == 7)
        try await Self.awaitEnd(of: pids)
        #expect(throws: ClusterError.self, "a stopped cluster must leave no state") {
            try ClusterState.read(runDirectory: options.runDirectory)
        }
    }

    @Test func `a dead process is restarted with the same ports`() async throws {
        var options = try self.options()
        options.restartsExitedProcesses = true
        try await TestCluster.with(options) { cluster in
            for name in ["redis", "gateway-1"] {
                let killed = try cluster.process(named: name)
                try await cluster.kill(name)
                try await cluster.waitUntilReady(within: .seconds(10))
                let restarted = try cluster.process(named: name)
                #expect(restarted.pid != killed.pid && restarted.restarts == 1)
                #expect(restarted.ports == killed.ports && restarted.opsPort == killed.opsPort)
                #expect(restarted.lastExitDescription == "was ended by signal 9")
            }
        }
    }

    @Test func `without automatic restarts, a killed process stays down until it is restarted by hand`() async throws {
        try await TestCluster.with(try self.options()) { cluster in
            try await cluster.kill("barrage-fanout-1")
            #expect(try cluster.process(named: "barrage-fanout-1").pid == nil)
            #expect(throws: ClusterError.notAlive("barrage-fanout-1")) {
                try cluster.signal("barrage-fanout-1", SIGSTOP)
            }
            // The cluster is ready without a process that `kill` has ended.
            try await cluster.waitUntilReady(within: .seconds(10))
            try await cluster.restart("barrage-fanout-1")
            try await cluster.waitUntilReady(within: .seconds(10))
            #expect(try cluster.process(named: "barrage-fanout-1").pid != nil)
        }
    }

    @Test func `a stopped process is not ready, and becomes ready when it continues`() async throws {
        try await TestCluster.with(try self.options()) { cluster in
            try cluster.signal("gateway-1", SIGSTOP)
            // The cluster cannot become ready, so the test waits only a short time.
            let error = await #expect(throws: ClusterError.self) {
                try await cluster.waitUntilReady(within: .milliseconds(1200))
            }
            guard case .notReady(["gateway-1"], _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try cluster.signal("gateway-1", SIGCONT)
            try await cluster.waitUntilReady(within: .seconds(10))
            // Stops the process again, because a stopped process must not delay the end of the cluster.
            try cluster.signal("gateway-1", SIGSTOP)
        }
    }

    @Test func `an instance is added and removed while the cluster runs; no name is used twice`() async throws {
        try await TestCluster.with(try self.options()) { cluster in
            let name = try cluster.add(.gateway)
            #expect(name == "gateway-2")
            try await cluster.waitUntilReady(within: .seconds(10))
            #expect(cluster.gateways.map(\.name) == ["gateway-1", "gateway-2"])
            try await cluster.remove("gateway-1")
            #expect(cluster.gateways.map(\.name) == ["gateway-2"])
            #expect(
                try cluster.add(.gateway) == "gateway-3",
                "no name may be used twice, because the name is the transactional id of the instance")
        }
    }

    @Test func `a second cluster in the same run directory is rejected, and the first stays ready`() async throws {
        let options = try self.options()
        try await TestCluster.with(options) { cluster in
            let secondCluster = LocalCluster(options)
            let error = await #expect(throws: ClusterError.self) { try await secondCluster.start() }
            await secondCluster.stop()
            let ownPID = ProcessInfo.processInfo.processIdentifier
            #expect(error == .alreadyRunning(runDirectory: cluster.directory.path, pid: ownPID))
            let state = try await ClusterState.read(runDirectory: options.runDirectory).checkingReadiness()
            #expect(state.isReady)
        }
    }

    @Test func `services restart with the new address after the embedded broker has restarted`() async throws {
        var options = try self.options()
        options.restartsExitedProcesses = true
        try await TestCluster.with(options) { cluster in
            let oldAddress = cluster.state.kafka
            try await cluster.kill("broker-1")
            // Waits until the broker has restarted, which gives it another address.
            var version = 0
            while cluster.state.kafka == oldAddress, let change = await cluster.waitForChange(after: version) {
                version = change.version
            }
            try await cluster.waitUntilReady(within: .seconds(10))
            let newAddress = cluster.state.kafka
            #expect(newAddress != oldAddress)
            // Only services have an ops port; Redis and the broker have none.
            for process in cluster.processes where process.opsPort != nil {
                #expect(RunDirectory.lastLines(of: process.log, count: 1).hasSuffix("kafka \(newAddress)"))
            }
        }
    }

    @Test func `waiting for a cluster fails with the log of a program that ends again and again`() async throws {
        var options = try self.options()
        options.restartsExitedProcesses = true
        // A gateway that prints a line and ends with status 3.
        let gatewayPath = (options.binaryDirectory ?? "") + "/gateway"
        try Data("#!/bin/sh\necho no such thing as a shard\nexit 3\n".utf8).write(to: URL(fileURLWithPath: gatewayPath))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: gatewayPath)
        let cluster = LocalCluster(options)
        try await cluster.start()
        let error = await #expect(throws: ClusterError.self) { try await cluster.waitUntilReady(within: .seconds(30)) }
        await cluster.stop()
        guard case .ended("gateway-1", "ended with status 3", _, let endOfLog) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(endOfLog.contains("no such thing as a shard"))
    }

    /// Runs `plaza up`, sends it a signal when the cluster is ready, and waits until all processes have ended.
    ///
    /// - Returns: how `plaza up` itself ended.
    private func runPlazaUp(endedBy signal: Int32) async throws -> ProcessEnd {
        let options = try self.options()
        let programs = options.binaryDirectory ?? ""
        let plaza = try TestProcess(
            [programs + "/plaza", "up", "--port", "0", "--run-dir", options.runDirectory],
            environment: ["LIVEPLAZA_BIN_DIR": programs], output: .nothing)
        // `plaza status --wait 30` ends with 0 when the cluster is ready within 30 s.
        let status = try TestProcess(
            [programs + "/plaza", "status", "--wait", "30", "--run-dir", options.runDirectory], output: .nothing)
        #expect(await status.awaitEnd() == .exited(0))
        let state = try ClusterState.read(runDirectory: options.runDirectory)
        // Redis, the broker, and one instance of each of the five services.
        #expect(state.processes.count == 7)
        #expect(state.supervisor == plaza.pid)
        kill(plaza.pid, signal)
        let end = await plaza.awaitEnd()
        try await Self.awaitEnd(of: state.processes.compactMap(\.pid))
        #expect(throws: ClusterError.self) { try ClusterState.read(runDirectory: options.runDirectory) }
        return end
    }

    @Test func `all processes of a cluster end when plaza up is killed with SIGKILL`() async throws {
        let end = try await self.runPlazaUp(endedBy: SIGKILL)
        #expect(end == .signalled(SIGKILL))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `plaza up stops all its processes on a signal and ends with status 0`(
        signal: Int32
    )
        async throws
    {
        let end = try await self.runPlazaUp(endedBy: signal)
        #expect(end == .exited(0))
    }

    @Test(.enabled(if: TestCluster.kafkaHome != nil, "\(TestCluster.whyNoKafka)"))
    func `a killed real Kafka restarts on the same ports, and three brokers do not start on the data of one broker`()
        async throws
    {
        var options = try self.options(kafkaBrokers: 1)
        // The cluster has zero instances of each service.
        options.scale = Dictionary(uniqueKeysWithValues: ServiceKind.allCases.map { ($0, 0) })
        let cluster = LocalCluster(options)
        try await cluster.start()
        let killed = try cluster.process(named: "broker-1")
        try await cluster.kill("broker-1")
        #expect(!HealthProbe.kafkaAnswers(bootstrap: cluster.state.kafka))
        try await cluster.restart("broker-1")
        try await cluster.waitUntilReady(within: .seconds(60))
        let restarted = try cluster.process(named: "broker-1")
        #expect(restarted.ports == killed.ports && HealthProbe.kafkaAnswers(bootstrap: cluster.state.kafka))
        await cluster.stop()
        options.broker = .kafkaHome(TestCluster.kafkaHome ?? "", brokers: 3)
        let clusterOfThreeBrokers = LocalCluster(options)
        let error = await #expect(throws: ClusterError.self) { try await clusterOfThreeBrokers.start() }
        guard case .badOption(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("holds the data of 1 broker"))
        try FileManager.default.removeItem(atPath: cluster.directory.path)
    }

    @Test(.enabled(if: TestCluster.kafkaHome != nil, "\(TestCluster.whyNoKafka)"))
    func `three brokers of a real Kafka form one cluster`() async throws {
        try await TestCluster.with(try self.options(kafkaBrokers: 3)) { cluster in
            #expect(cluster.state.brokers == 3)
            for address in cluster.state.kafka.split(separator: ",") {
                #expect(HealthProbe.kafkaAnswers(bootstrap: "\(address)"))
            }
        }
    }

    @Test func `a real Kafka is present when LIVEPLAZA_REQUIRE_KAFKA is 1`() {
        let isRequired = ProcessInfo.processInfo.environment["LIVEPLAZA_REQUIRE_KAFKA"] == "1"
        #expect(!isRequired || TestCluster.kafkaHome != nil, "LIVEPLAZA_REQUIRE_KAFKA is 1, but there is no Kafka")
    }
}
