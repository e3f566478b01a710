// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The connections of all devices, and the faults of each device.
struct DeviceConnections {
    typealias Receiver = @Sendable (TransportEvent) -> Void
    typealias Work = @Sendable () -> Void

    /// What happens to a frame or an event when the network's latency has passed.
    enum Delivery {
        case delivered
        /// Stored until the device is no longer stalled.
        case heldBack
        /// Lost with its connection.
        case lost
        /// Lost; in addition, all connections of the device end.
        case cut(device: String)
    }

    private struct Connection {
        let device: String
        let receiver: Receiver
        /// The deliveries that wait while the device is stalled.
        var heldBack: [Work] = []
    }

    private var connections: [Int: Connection] = [:]
    private var lastNumber = 0
    /// The devices that cannot connect.
    private var unreachable: Set<String> = []
    /// The devices whose frames are held back.
    private var stalled: Set<String> = []
    /// How many frames of a device are delivered before its connections are cut.
    private var framesUntilCut: [String: Int] = [:]

    // MARK: Connections

    /// Returns a number for a new connection; each call returns another one.
    mutating func makeNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    /// Opens a connection.
    ///
    /// - Returns: False if the device is unreachable.
    mutating func open(_ number: Int, _ device: String, _ receiver: @escaping Receiver) -> Bool {
        guard !self.unreachable.contains(device) else { return false }
        self.connections[number] = Connection(device: device, receiver: receiver)
        return true
    }

    /// Removes a connection.
    ///
    /// - Returns: Its receiver, for the last event.
    mutating func close(_ number: Int) -> Receiver? { self.connections.removeValue(forKey: number)?.receiver }

    func receiver(of number: Int) -> Receiver? { self.connections[number]?.receiver }

    /// The numbers of a device's connections (nil: of all devices), in ascending order.
    func numbers(of device: String?) -> [Int] {
        self.connections.filter { device == nil || $0.value.device == device }.map(\.key).sorted()
    }

    // MARK: Faults

    mutating func setReachable(_ isReachable: Bool, _ device: String) {
        if isReachable { self.unreachable.remove(device) } else { self.unreachable.insert(device) }
    }

    /// Makes the device's connections end after `frameCount` further frames.
    mutating func scheduleCut(of device: String, after frameCount: Int) {
        self.framesUntilCut[device] = max(0, frameCount)
    }

    /// Begins or ends a stall.
    ///
    /// - Returns: The deliveries that were held back and can be made now, in order.
    mutating func setStalled(_ isStalled: Bool, _ device: String) -> [Work] {
        guard !isStalled else {
            self.stalled.insert(device)
            return []
        }
        self.stalled.remove(device)
        var released: [Work] = []
        for number in self.numbers(of: device) {
            released += self.connections[number]?.heldBack ?? []
            self.connections[number]?.heldBack = []
        }
        return released
    }

    /// Decides what happens to `work`, the delivery of a frame or event to a connection.
    ///
    /// Stores `work` if the device is stalled, and counts the delivery if a cut is planned.
    mutating func decideDelivery(to number: Int, _ work: @escaping Work) -> Delivery {
        guard let device = self.connections[number]?.device else { return .lost }
        guard !self.stalled.contains(device) else {
            self.connections[number]?.heldBack.append(work)
            return .heldBack
        }
        guard let remainingFrames = self.framesUntilCut[device] else { return .delivered }
        guard remainingFrames > 0 else {
            self.framesUntilCut[device] = nil
            return .cut(device: device)
        }
        self.framesUntilCut[device] = remainingFrames - 1
        return .delivered
    }
}
