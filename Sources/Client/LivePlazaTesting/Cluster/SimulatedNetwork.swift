// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The connections between clients and the simulated gateway, with their delays and faults.
final class SimulatedNetwork: Sendable {
    private struct Connection {
        let name: String
        let onEvent: @Sendable (TransportEvent) -> Void
        /// Events for the client and actions of the client that wait while the device is stalled.
        var heldBack: [@Sendable () -> Void] = []
    }

    /// How a frame or an event is handled when its latency is over.
    private enum Delivery {
        case delivered
        /// Lost with its connection, or held back while the device is stalled.
        case notDelivered
        /// Lost; all connections of the device end.
        case cut(String)
    }

    private struct State {
        weak var cluster: SimulatedCluster?
        var connections: [Int: Connection] = [:]
        var lastNumber = 0
        /// The devices that cannot connect.
        var unreachable: Set<String> = []
        /// The devices whose frames are held back.
        var stalled: Set<String> = []
        /// How many frames of a device are delivered before its connections are cut.
        var framesUntilCut: [String: Int] = [:]
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
        let (number, isReachable) = self.state.withLock { state in
            state.lastNumber += 1
            let isReachable = !state.unreachable.contains(name)
            if isReachable { state.connections[state.lastNumber] = Connection(name: name, onEvent: onEvent) }
            return (state.lastNumber, isReachable)
        }
        guard isReachable else {
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

    func deliver(_ output: ConnectionOutput, to number: Int) {
        self.transmit(number) { network in
            switch output {
            case .text(let text): network.sendEvent(.text(text), to: number)
            case .close(let code): network.endConnection(number, code: code)
            }
        }
    }

    /// Ends the connections of a device (nil: of all devices) without a close frame.
    func cut(_ name: String?) {
        let numbers = self.state.withLock { state in
            state.connections.filter { name == nil || $0.value.name == name }.map(\.key).sorted()
        }
        for number in numbers {
            self.cluster?.perform { $0.connectionClosed(number) }
            self.endConnection(number, code: 1006)
        }
    }

    /// Cuts the device's connections after `count` further frames.
    func setFrames(_ count: Int, untilCutOf name: String) {
        self.state.withLock { $0.framesUntilCut[name] = max(0, count) }
    }

    func setReachable(_ isReachable: Bool, _ name: String) {
        self.state.withLock { state in
            if isReachable { state.unreachable.remove(name) } else { state.unreachable.insert(name) }
        }
        if !isReachable { self.cut(name) }
    }

    func setStalled(_ isStalled: Bool, _ name: String) {
        let releasedWork = self.state.withLock { state -> [@Sendable () -> Void] in
            guard !isStalled else {
                state.stalled.insert(name)
                return []
            }
            state.stalled.remove(name)
            var released: [@Sendable () -> Void] = []
            for number in state.connections.keys.sorted() where state.connections[number]?.name == name {
                released += state.connections[number]?.heldBack ?? []
                state.connections[number]?.heldBack = []
            }
            return released
        }
        for work in releasedWork { self.queue.async(work) }
    }

    // MARK: Private

    private var cluster: SimulatedCluster? { self.state.withLock { $0.cluster } }

    /// Runs `work` after the latency.
    ///
    /// If the device is stalled by then, `work` waits. If the connection has ended by then, `work` is dropped.
    private func transmit(_ number: Int, _ work: @escaping @Sendable (SimulatedNetwork) -> Void) {
        self.runAfterLatency { [weak self] in
            guard let self else { return }
            let delivery = self.state.withLock { state -> Delivery in
                guard let connection = state.connections[number] else { return .notDelivered }
                guard !state.stalled.contains(connection.name) else {
                    state.connections[number]?.heldBack.append { [weak self] in if let self { work(self) } }
                    return .notDelivered
                }
                guard let remainingFrames = state.framesUntilCut[connection.name] else { return .delivered }
                state.framesUntilCut[connection.name] = remainingFrames > 0 ? remainingFrames - 1 : nil
                return remainingFrames > 0 ? .delivered : .cut(connection.name)
            }
            switch delivery {
            case .delivered: work(self)
            case .cut(let name): self.cut(name)
            case .notDelivered: break
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
        self.state.withLock { $0.connections[number]?.onEvent }?(event)
    }

    private func endConnection(_ number: Int, code: Int) {
        let connection = self.state.withLock { $0.connections.removeValue(forKey: number) }
        connection?.onEvent(.closed(code: code))
    }
}

/// Opens connections of one device to the simulated cluster.
struct SimulatedTransport: Transport {
    let name: String
    let network: SimulatedNetwork

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        SimulatedSocket(number: self.network.connect(self.name, onEvent), network: self.network)
    }
}

private struct SimulatedSocket: TransportConnection {
    let number: Int
    let network: SimulatedNetwork

    func send(_ text: [UInt8]) { self.network.send(text, from: self.number) }
    func close(code: Int) { self.network.close(self.number) }
}
