// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The connections between clients and the simulated gateway, with their delays and faults.
final class SimulatedNetwork: Sendable {
    private struct State {
        weak var cluster: SimulatedCluster?
        var devices = DeviceConnections()
    }

    private let state = Locked(State())
    private let queue: EngineQueue
    private let clock: SimulationClock
    private let latencyMilliseconds: Double

    init(queue: EngineQueue, clock: SimulationClock, latencyMilliseconds: Double) {
        self.queue = queue
        self.clock = clock
        self.latencyMilliseconds = latencyMilliseconds
    }

    func attach(_ cluster: SimulatedCluster) { self.state.withLock { $0.cluster = cluster } }

    // MARK: Called by clients, on any thread

    /// Begins to connect a device.
    ///
    /// - Returns: The connection's number.
    func connect(_ name: String, _ onEvent: @escaping @Sendable (TransportEvent) -> Void) -> Int {
        let (number, isOpened) = self.state.withLock { state in
            let number = state.devices.makeNumber()
            return (number, state.devices.open(number, name, onEvent))
        }
        guard isOpened else {
            self.runAfterLatency { onEvent(.closed(code: 1006)) }
            return number
        }
        self.transmit(number) { network in
            network.cluster?.perform { $0.connectionOpened(number) }
            network.transmit(number) { $0.sendEvent(.opened, to: number) }
        }
        return number
    }

    func send(_ text: [UInt8], from number: Int) {
        self.transmit(number) { network in network.cluster?.perform { $0.textReceived(text, from: number) } }
    }

    func close(_ number: Int) {
        self.transmit(number) { network in
            network.cluster?.perform { $0.connectionClosed(number) }
            network.endConnection(number, code: 1000)
        }
    }

    // MARK: Called by the cluster, on its queue

    func deliver(_ output: ConnectionOutput) {
        let number = output.connection
        self.transmit(number) { network in
            switch output.action {
            case .text(let text): network.sendEvent(.text(text), to: number)
            case .close(let code): network.endConnection(number, code: code)
            }
        }
    }

    /// Ends the connections of a device (nil: of all devices) without a close frame.
    func cut(_ name: String?) {
        for number in self.state.withLock({ $0.devices.numbers(of: name) }) {
            self.cluster?.perform { $0.connectionClosed(number) }
            self.endConnection(number, code: 1006)
        }
    }

    /// Cuts the device's connections after `count` further frames.
    func setFrames(_ count: Int, untilCutOf name: String) {
        self.state.withLock { $0.devices.setFrames(count, untilCutOf: name) }
    }

    func setReachable(_ isReachable: Bool, _ name: String) {
        self.state.withLock { $0.devices.setReachable(isReachable, name) }
        if !isReachable { self.cut(name) }
    }

    func setStalled(_ isStalled: Bool, _ name: String) {
        let released = self.state.withLock { $0.devices.setStalled(isStalled, name) }
        for work in released { self.queue.async(work) }
    }

    // MARK: Private

    private var cluster: SimulatedCluster? { self.state.withLock { $0.cluster } }

    /// Runs `work` after the latency.
    ///
    /// If the device is stalled by then, `work` waits. If the connection has ended by then, `work` is dropped.
    private func transmit(_ number: Int, _ work: @escaping @Sendable (SimulatedNetwork) -> Void) {
        self.runAfterLatency { [weak self] in
            guard let self else { return }
            let delivery = self.state.withLock { state in
                state.devices.delivery(to: number) { [weak self] in if let self { work(self) } }
            }
            switch delivery {
            case .delivered: work(self)
            case .cut(let name): self.cut(name)
            case .heldBack, .lost: break
            }
        }
    }

    private func runAfterLatency(_ work: @escaping @Sendable () -> Void) {
        if self.latencyMilliseconds > 0 {
            _ = self.clock.schedule(after: self.latencyMilliseconds, on: self.queue, work)
        } else {
            self.queue.async(work)
        }
    }

    private func sendEvent(_ event: TransportEvent, to number: Int) {
        self.state.withLock { $0.devices.receiver(of: number) }?(event)
    }

    private func endConnection(_ number: Int, code: Int) {
        self.state.withLock { $0.devices.close(number) }?(.closed(code: code))
    }
}
