// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The calls of a client that have no outcome yet.
///
/// A call is open if it was sent on the current connection, and otherwise queued.
struct UnfinishedCalls: Sendable {
    struct Call: Sendable {
        let method: String
        /// The parameters as JSON.
        let params: [UInt8]
        /// The live to join, for the method `live.join`; it has no effect on other methods.
        let live: LiveID?
        /// The time at which the call fails if it has no reply.
        let deadline: MonotonicTime
        /// When the call was first sent on any connection; nil if it was never sent.
        fileprivate var firstSentAt: MonotonicTime?
        /// Whether the call was sent on the current connection.
        fileprivate var isOpen = false

        init(method: String, params: [UInt8], live: LiveID?, deadline: MonotonicTime) {
            self.method = method
            self.params = params
            self.live = live
            self.deadline = deadline
        }
    }

    private var calls: [Int64: Call] = [:]
    /// The keys of `calls`, in the order in which the calls were made.
    private var order: [Int64] = []
    /// The number of `calls` that are open.
    private var openCount = 0

    var count: Int { self.order.count }

    subscript(id: Int64) -> Call? { self.calls[id] }

    /// Queues a call.
    mutating func append(_ call: Call, id: Int64) {
        self.calls[id] = call
        self.order.append(id)
    }

    /// Removes a call that has ended.
    ///
    /// - Returns: false if the call had ended already.
    mutating func remove(_ id: Int64) -> Bool {
        guard let call = self.calls.removeValue(forKey: id) else { return false }
        if call.isOpen { self.openCount -= 1 }
        if let index = self.order.firstIndex(of: id) { self.order.remove(at: index) }
        return true
    }

    /// Removes all calls.
    ///
    /// - Returns: the ids of the calls, in the order in which the calls were made.
    mutating func removeAll() -> [Int64] {
        defer { self = UnfinishedCalls() }
        return self.order
    }

    /// The id of the oldest call if its deadline has passed, otherwise nil.
    ///
    /// Only the oldest call is checked: all calls may wait for the same time, so the oldest expires first.
    func firstExpired(at now: MonotonicTime) -> Int64? {
        guard let id = self.order.first, let call = self.calls[id], call.deadline <= now else { return nil }
        return id
    }

    /// Queues the open calls again, because their connection is lost.
    mutating func connectionLost() {
        for id in self.order { self.calls[id]?.isOpen = false }
        self.openCount = 0
    }

    /// Opens queued calls in order, until `maxOpen` calls are open.
    ///
    /// - Returns: the frames to send.
    mutating func openQueuedCalls(maxOpen: Int, at now: MonotonicTime) -> [OutgoingCall] {
        var frames: [OutgoingCall] = []
        guard self.openCount < maxOpen else { return frames }
        for id in self.order {
            guard self.openCount < maxOpen else { break }
            guard let call = self.calls[id], !call.isOpen else { continue }
            let age = call.firstSentAt.map { max(Milliseconds(0), now - $0) }
            frames.append(OutgoingCall(id: id, method: call.method, params: call.params, age: age))
            self.calls[id]?.isOpen = true
            self.calls[id]?.firstSentAt = call.firstSentAt ?? now
            self.openCount += 1
        }
        return frames
    }
}
