// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
internal import Glibc
internal import HTTPServer
internal import KafkaClient
package import Observability
internal import PlazaModel
package import Settings

/// A service's process: settings, health, metrics, topics, and a stop that drains.
package final class ServiceHost: Sendable {
    package let settings: ServiceSettings
    package let log: Log
    package let metrics: MetricsRegistry
    /// What the shells and followers of this process share.
    package let shellSettings: ShellSettings
    private let shared = Locked(Shared())

    private struct Shared {
        var components: [any ServiceComponent] = []
        var hasStarted = false
        var isStopping = false
    }

    private init(_ settings: ServiceSettings, service: String) {
        self.settings = settings
        self.log = Log(service: service, level: settings.logLevel).with([.process: .string(settings.instance)])
        self.metrics = MetricsRegistry()
        self.shellSettings = ShellSettings(
            kafka: settings.kafka(log: self.log), instance: settings.instance, partitions: settings.partitions,
            mode: settings.mode)
        self.metrics.addProcessMetrics()
        self.metrics.observe(MetricNames.Shell.ready, help: "Whether the service is ready: 1 or 0.") { [weak self] in
            self?.waitingFor.isEmpty == true ? 1 : 0
        }
    }

    /// Runs a service until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - service: the program's name.
    ///   - summary: what it does, for `--help`.
    ///   - extra: declares and reads the service's own settings.
    ///   - check: refuses what the service cannot run with, before anything is started.
    ///   - build: makes the service's components, once the broker answers and the topics are there.
    /// - Returns: the process's exit status.
    package static func run<Extra: Sendable>(
        _ service: String, summary: String, settings extra: (inout SettingsReader) -> Extra,
        check: (ServiceSettings, inout SettingsReader) -> Void = { _, _ in },
        build: @escaping @Sendable (ServiceHost, Extra) throws -> [any ServiceComponent]
    ) -> Int32 {
        var reader = SettingsReader(
            program: service, summary: summary, arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessEnvironment.all)
        let settings = ServiceSettings(&reader, service: service)
        let own = extra(&reader)
        check(settings, &reader)
        do {
            try reader.finish()
        } catch {
            SettingsExit.report(error)
            return error.exitStatus
        }
        // Before any thread is made, so that all of them leave these signals to the wait below.
        let signals = StopSignals()
        let host = ServiceHost(settings, service: service)
        return host.run(signals) { host in try build(host, own) }
    }

    private func run(_ signals: StopSignals, build: @escaping @Sendable (ServiceHost) throws -> [any ServiceComponent])
        -> Int32
    {
        let server: WebServer
        do {
            server = try WebServer(
                host: self.settings.host, port: UInt16(self.settings.opsPort), handler: OpsRoutes(self).handler)
        } catch {
            self.log.error("the ops port cannot be had", [.detail: .string("\(error)")])
            return 1
        }
        self.log.info("started", [.port: .int(Int(server.port))])
        let failed = Locked(false)
        let fail: @Sendable () -> Void = {
            failed.withLock { $0 = true }
            signals.raise()
        }
        let worker = ShellThread { [self] in
            do {
                try self.work(build, fail: fail)
            } catch {
                self.log.error("the service cannot run", [.detail: .string("\(error)")])
                fail()
            }
        }
        signals.wait()
        let components = self.shared.withLock { shared in
            shared.isStopping = true
            return shared.components
        }
        for component in components { component.stop() }
        let drained = worker.join(seconds: Double(self.settings.drainMilliseconds) / 1000 + 1)
        server.stop()
        self.log.info("stopped", [.reason: drained ? "drained" : "cut off"])
        return failed.withLock { $0 } ? 1 : 0
    }

    /// Gets the topics, starts the components, and waits for all of them to end.
    private func work(
        _ build: (ServiceHost) throws -> [any ServiceComponent], fail: @escaping @Sendable () -> Void
    ) throws {
        try TopicSetup(self.settings, self.log).run { [self] in self.isStopping }
        guard !self.isStopping else { return }
        let components = try build(self)
        let isStopping = self.shared.withLock { shared in
            shared.components = components
            shared.hasStarted = true
            return shared.isStopping
        }
        if isStopping { for component in components { component.stop() } }
        let threads = components.map { component in
            ShellThread { [self] in
                component.run()
                guard !self.isStopping else { return }
                // It has said why. A process without it would stay, and never be ready: whoever started it may do so again.
                self.log.error("a part of the service has ended", [.reason: .string(component.name)])
                fail()
            }
        }
        for thread in threads { _ = thread.join(seconds: .infinity) }
    }

    private var isStopping: Bool { self.shared.withLock { $0.isStopping } }

    /// What `readyz` tells: the components that are not ready, or that nothing has started yet.
    var waitingFor: [String] {
        let (components, hasStarted, isStopping) = self.shared.withLock {
            ($0.components, $0.hasStarted, $0.isStopping)
        }
        if isStopping { return ["stopping"] }
        return hasStarted ? components.filter { !$0.isReady }.map(\.name) : ["kafka"]
    }

    /// What `livez` tells: the components that hang.
    var hanging: [String] { self.shared.withLock { $0.components }.filter { !$0.isLive }.map(\.name) }
}

extension ServiceHost {
    /// The shell of one of this service's machines.
    package func shell(_ spec: MachineSpec) -> MachineShell {
        MachineShell(spec, settings: self.shellSettings, log: self.log, metrics: self.metrics)
    }

    /// A follower of the apps' settings, for machines of this service.
    package func appTable() -> AppTableFollower { AppTableFollower(self.shellSettings, log: self.log) }
}
