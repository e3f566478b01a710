// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import MachineKit

/// The connections between clients and the simulated gateway, with their delays and faults.
final class SimulatedNetwork: Sendable {
    private struct State {
        weak var cluster: SimulatedCluster?
        var devices = DeviceConnections()
    }

    /// The close codes of RFC 6455: 1000 for a connection that ends with a close frame, 1006 for one that ends without.
    private static let (normalClosure, abnormalClosure) = (1000, 1006)

    private let state = Locked(State())
    private let queue: EngineQueue
    private let clock: SimulationClock
    /// How long each frame takes, in each direction.
    private let latency: Milliseconds

    init(queue: EngineQueue, clock: SimulationClock, latency: Milliseconds) {
        self.queue = queue
        self.clock = clock
        self.latency = latency
    }

    /// Sets the cluster that receives what clients send.
    func attach(_ cluster: SimulatedCluster) { self.state.withLock { $0.cluster = cluster } }

    // MARK: Called by clients, on any thread

    /// Begins to connect a device.
    ///
    /// - Returns: The connection's number.
    func connect(_ device: String, _ onEvent: @escaping @Sendable (TransportEvent) -> Void) -> Int {
        let (number, isOpened) = self.state.withLock { state in
            let number = state.devices.makeNumber()
            return (number, state.devices.open(number, device, onEvent))
        }
        guard isOpened else {
            self.runAfterLatency { onEvent(.closed(code: Self.abnormalClosure)) }
            return number
        }
        // The client gets `opened` after two latencies: that of its request, and that of the server's answer.
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
            network.endConnection(number, code: Self.normalClosure)
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
    func cut(_ device: String?) {
        for number in self.state.withLock({ $0.devices.numbers(of: device) }) {
            self.cluster?.perform { $0.connectionClosed(number) }
            self.endConnection(number, code: Self.abnormalClosure)
        }
    }

    /// Lets `frameCount` further frames or events of the device pass; then loses the next one, and cuts the device's
    /// connections.
    func scheduleCut(of device: String, after frameCount: Int) {
        self.state.withLock { $0.devices.scheduleCut(of: device, after: frameCount) }
    }

    /// Sets whether a device can connect; the connections of a device that becomes unreachable are cut.
    func setReachable(_ isReachable: Bool, _ device: String) {
        self.state.withLock { $0.devices.setReachable(isReachable, device) }
        if !isReachable { self.cut(device) }
    }

    /// Sets whether the frames and events of a device are held back; at the end of a stall they are delivered.
    func setStalled(_ isStalled: Bool, _ device: String) {
        let heldBackDeliveries = self.state.withLock { $0.devices.setStalled(isStalled, device) }
        for work in heldBackDeliveries { self.queue.async(work) }
    }

    // MARK: Private

    private var cluster: SimulatedCluster? { self.state.withLock { $0.cluster } }

    /// Runs `work`, which is one frame or event of the connection `number`, after the latency.
    ///
    /// If the device is stalled by then, `work` waits. If the connection has ended by then, `work` is dropped.
    private func transmit(_ number: Int, _ work: @escaping @Sendable (SimulatedNetwork) -> Void) {
        self.runAfterLatency { [weak self] in
            guard let self else { return }
            let delivery = self.state.withLock { state in
                state.devices.decideDelivery(to: number) { [weak self] in if let self { work(self) } }
            }
            switch delivery {
            case .delivered: work(self)
            case .cut(let device): self.cut(device)
            case .heldBack, .lost: break
            }
        }
    }

    private func runAfterLatency(_ work: @escaping @Sendable () -> Void) {
        if self.latency > Milliseconds(0) {
            _ = self.clock.schedule(after: self.latency, on: self.queue, work)
        } else {
            self.queue.async(work)
        }
    }

    private func sendEvent(_ event: TransportEvent, to number: Int) {
        let receiver = self.state.withLock { $0.devices.receiver(of: number) }
        receiver?(event)
    }

    private func endConnection(_ number: Int, code: Int) {
        let receiver = self.state.withLock { $0.devices.close(number) }
        receiver?(.closed(code: code))
    }
}
