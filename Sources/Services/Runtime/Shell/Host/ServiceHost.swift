// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
internal import Glibc
internal import HTTPServer
package import Observability
package import PlazaWire
package import Settings

/// A service's process: its settings, health, metrics, topics and components.
package final class ServiceHost: Sendable {
    package let settings: ServiceSettings
    package let log: Log
    package let metrics: MetricsRegistry
    /// The settings that all machine shells, and all readers of the apps' settings, share in this process.
    package let shellSettings: ShellSettings
    /// Records spans, if there is a collector.
    package let tracer: Tracer
    /// Sends the tracer's spans to the collector; nil if there is no collector.
    private let exporter: SpanExporter?
    private let state = Locked(State())

    /// The state that the main thread, the components' thread and the ops port share.
    private struct State {
        var components: [any ServiceComponent] = []
        /// What `reportDegradation` has registered.
        var degradations: [(name: String, isPresent: @Sendable () -> Bool)] = []
        /// Whether the topics exist and the components were created.
        var hasStarted = false
        var isStopping = false
    }

    private init(_ settings: ServiceSettings, service: String, traceShare: Double) {
        self.settings = settings
        self.log = Log(service: service, level: settings.logLevel).with([.process: .string(settings.instance)])
        self.metrics = MetricsRegistry()
        let tracer = settings.collectorURL == nil ? Tracer.off : Tracer(share: traceShare)
        self.tracer = tracer
        self.exporter = settings.collectorURL.map { [log, metrics] collector in
            SpanExporter(
                tracer, collector: collector, service: service, instance: settings.instance, log: log, metrics: metrics)
        }
        var shellSettings = ShellSettings(
            kafka: settings.kafka(log: self.log), instance: settings.instance, partitions: settings.partitions,
            mode: settings.mode)
        shellSettings.tracer = tracer
        self.shellSettings = shellSettings
        self.metrics.addProcessMetrics()
        self.metrics.observe(MetricNames.Shell.ready, help: "Whether the service is ready: 1 or 0.") { [weak self] in
            self?.health.isReady == true ? 1 : 0
        }
    }

    /// Runs a service until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - service: the program's name.
    ///   - summary: one sentence about the service, for `--help`.
    ///   - backendRequests: the requests that the service sends to apps' backends.
    ///   - readOwnSettings: declares and reads the settings that only this service has.
    ///   - traceShare: calls that come without a trace get one with this probability, 0 to 1; only gateways receive
    ///     such calls.
    ///   - check: reports invalid combinations of settings, before anything is started.
    ///   - build: creates the service's components; called once the topics exist.
    /// - Returns: the process's exit status.
    package static func run<OwnSettings: Sendable>(
        _ service: String, summary: String, backendRequests: AppsDocument.BackendRequests = .none,
        settings readOwnSettings: (inout SettingsReader) -> OwnSettings,
        traceShare: (OwnSettings) -> Double = { _ in 0 },
        check: (ServiceSettings, inout SettingsReader) -> Void = { _, _ in },
        build: @escaping @Sendable (ServiceHost, OwnSettings) throws -> [any ServiceComponent]
    ) -> Int32 {
        var reader = SettingsReader(
            program: service, summary: summary, arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessEnvironment.all)
        let settings = ServiceSettings(&reader, service: service, backendRequests: backendRequests)
        let ownSettings = readOwnSettings(&reader)
        check(settings, &reader)
        do {
            try reader.finish()
        } catch {
            SettingsExit.report(error)
            return error.exitStatus
        }
        // The signals are blocked before any thread is made, so that only `signals.wait()` below receives them.
        let signals = StopSignals()
        let host = ServiceHost(settings, service: service, traceShare: traceShare(ownSettings))
        return host.run(signals) { host in try build(host, ownSettings) }
    }

    /// Runs a service that has no settings of its own until SIGTERM or SIGINT.
    package static func run(
        _ service: String, summary: String,
        build: @escaping @Sendable (ServiceHost) throws -> [any ServiceComponent]
    ) -> Int32 {
        Self.run(service, summary: summary, settings: { _ in }, build: { host, _ in try build(host) })
    }

    /// Serves the ops port, at which operators read health and metrics, and runs the components.
    ///
    /// Returns after a stop signal, or after a component has failed.
    ///
    /// - Returns: the process's exit status.
    private func run(_ signals: StopSignals, build: @escaping @Sendable (ServiceHost) throws -> [any ServiceComponent])
        -> Int32
    {
        let server: WebServer
        let routes = OpsRoutes(metrics: self.metrics) { self.health }
        do {
            server = try WebServer(
                host: self.settings.opsHost, port: UInt16(self.settings.opsPort), handler: routes.handler)
        } catch {
            self.log.error("the ops port cannot be had", [.detail: .string("\(error)")])
            return 1
        }
        self.log.info("started", [.port: .int(Int(server.port))])
        let hasFailed = Locked(false)
        // Stops the process as a stop signal does, but with exit status 1.
        let fail: @Sendable () -> Void = {
            hasFailed.withLock { $0 = true }
            signals.raise()
        }
        let componentsThread = DedicatedThread("service") { [self] in
            do {
                try self.runComponents(build, fail: fail)
            } catch {
                self.log.error("the service cannot run", [.detail: .string("\(error)")])
                fail()
            }
        }
        let exporterThread = self.exporter.map { exporter in DedicatedThread("traces") { exporter.run() } }
        let watchdog = Watchdog(hungLoops: { [self] in self.hungLoops }) { [self] names in
            self.endHungProcess(names, fail: fail)
        }
        _ = DedicatedThread("watchdog") { watchdog.run() }
        signals.wait()
        watchdog.stop()
        let components = self.state.withLock { state in
            state.isStopping = true
            return state.components
        }
        for component in components { component.stop() }
        // Components must stop within `drain`. The process waits one more second, then ends even if some have not
        // stopped.
        let isDrained = componentsThread.join(timeout: self.settings.drain + .seconds(1))
        self.exporter?.stop()
        // Unsent spans must not delay the stop any longer.
        _ = exporterThread?.join(timeout: .seconds(1))
        server.stop()
        self.log.info("stopped", [.reason: isDrained ? "drained" : "cut off"])
        return hasFailed.withLock { $0 } ? 1 : 0
    }

    /// Sets up the topics, runs the components, and waits for all of them to end.
    private func runComponents(
        _ build: (ServiceHost) throws -> [any ServiceComponent], fail: @escaping @Sendable () -> Void
    ) throws {
        try TopicSetup(self.settings, self.log).run { [self] in self.isStopping }
        guard !self.isStopping else { return }
        let components = try build(self)
        let isStopping = self.state.withLock { state in
            state.components = components
            state.hasStarted = true
            return state.isStopping
        }
        // If the stop came before the components existed, each `run()` below returns at once.
        if isStopping { for component in components { component.stop() } }
        let threads = components.map { component in
            DedicatedThread(component.name) { [self] in
                component.run()
                guard !self.isStopping else { return }
                // The component has logged the cause. Without the component the process would never become ready, so it
                // exits, and its supervisor can restart it.
                self.log.error("a part of the service has ended", [.component: .string(component.name)])
                fail()
            }
        }
        for thread in threads { thread.join() }
    }

    /// Ends the process because loops hang, with the status that makes its supervisor start a new one.
    ///
    /// The ordinary shutdown may wait for a loop that hangs, or for a lock that the loop holds. Even a log line may
    /// wait for such a lock. Therefore the process exits after a time, even if the ordinary shutdown is not complete.
    private func endHungProcess(_ names: [String], fail: @Sendable () -> Void) {
        // An ordinary shutdown takes at most 2.5 s longer than the drain, so 5 s are enough.
        let limit = self.settings.drain + .seconds(5)
        _ = DedicatedThread("watchdog-exit") {
            DedicatedThread.sleep(for: limit)
            _exit(1)
        }
        self.log.error("a loop hangs, so the process ends", [.component: .string(names.joined(separator: ", "))])
        fail()
    }

    private var isStopping: Bool { self.state.withLock { $0.isStopping } }

    /// The components whose health is reported; none once the process stops, because ended loops would look hung.
    private var watchedComponents: [any ServiceComponent] {
        self.state.withLock { $0.isStopping ? [] : $0.components }
    }

    private var hungLoops: [String] { self.watchedComponents.flatMap(\.hungLoops) }

    /// What the ops port reports about the service.
    private var health: ServiceHealth {
        let components = self.watchedComponents
        let degradations = self.state.withLock { $0.degradations }
        return ServiceHealth(
            unready: self.unreadyParts, hungOrStalled: components.flatMap { $0.hungLoops + $0.stalledParts },
            degraded: degradations.filter { $0.isPresent() }.map(\.name) + components.flatMap(\.degradations))
    }

    /// The names of the parts that are not ready; only `kafka` before the components are started.
    private var unreadyParts: [String] {
        let (components, hasStarted, isStopping) = self.state.withLock {
            ($0.components, $0.hasStarted, $0.isStopping)
        }
        if isStopping { return ["stopping"] }
        return hasStarted ? components.flatMap(\.unreadyParts) : ["kafka"]
    }
}

extension ServiceHost {
    /// Makes `/readyz` name a degradation while it is present.
    ///
    /// - Parameters:
    ///   - name: what is degraded, in words for operators.
    ///   - isPresent: returns whether the degradation is present now; called from the ops port's thread.
    package func reportDegradation(_ name: String, while isPresent: @escaping @Sendable () -> Bool) {
        self.state.withLock { $0.degradations.append((name, isPresent)) }
    }

    /// Creates the shell of one of this service's machines.
    package func makeShell(_ spec: MachineSpec) -> MachineShell {
        MachineShell(spec, settings: self.shellSettings, log: self.log, metrics: self.metrics)
    }

    /// Creates a follower of the apps' settings, for machines of this service.
    package func makeAppTableFollower() -> AppTableFollower {
        let follower = AppTableFollower(self.shellSettings, log: self.log)
        follower.readStatus.export(to: self.metrics, as: follower.name)
        return follower
    }
}
