// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// A call without an outcome.
///
/// All times are milliseconds of the core's clock.
struct UnfinishedCall: Sendable {
    /// The client's own number of the call.
    let handle: Int
    /// The call's id in its frames; nil until it is first sent.
    var id: Int64?
    let method: String
    /// A JSON object.
    let params: [UInt8]
    /// The live that the call is about.
    let live: LiveID?
    /// When the call fails without a reply.
    let deadline: Double
    /// When the call was first sent; a repeated frame states the time since then as `age`.
    var firstSentAt: Double?
    /// Whether the call was sent on the present connection and waits for its reply.
    var isSent = false
    /// The call is not sent before this time, because the server was too busy for it.
    var notBefore = 0.0
    /// How often the call was repeated because the server was busy.
    var repeats = 0

    /// Whether the call makes the user join the live; calls after it wait for its reply.
    ///
    /// A `live.create` counts too, because the store creates a live only to enter it.
    var isJoining: Bool { self.method == "live.join" || self.method == "live.create" }

    init(handle: Int, method: String, params: [UInt8], live: LiveID?, deadline: Double) {
        self.handle = handle
        self.method = method
        self.params = params
        self.live = live
        self.deadline = deadline
    }
}

/// The calls without an outcome, in the order in which they were made.
///
/// A call that was sent keeps its id, so that the server applies it at most once.
struct CallQueue: Sendable {
    private var calls: [UnfinishedCall] = []
    private let random: RandomSource
    /// When the last calls were sent, oldest first; has at most `maxCallsPerSecond` entries.
    private var sendTimes: [Double] = []

    /// The maximum number of unanswered calls that the server allows a session.
    private static let maxUnanswered = 16
    /// The maximum number of calls that are sent in any second.
    ///
    /// The server closes a connection that sends 200 frames in a second.
    private static let maxCallsPerSecond = 100
    /// The maximum number of times that a call is repeated because the server was busy.
    private static let maxRepeats = 3

    init(random: @escaping RandomSource) { self.random = random }

    var count: Int { self.calls.count }

    mutating func add(_ call: UnfinishedCall) { self.calls.append(call) }

    /// The call that a reply with this id answers.
    func call(id: Int64) -> UnfinishedCall? { self.calls.first { $0.id == id } }

    /// The join that was sent and has no reply yet; there is at most one, because calls behind a join wait.
    var sentJoin: UnfinishedCall? { self.calls.first { $0.isJoining && $0.isSent } }

    /// Whether a call of this method about this live is unfinished.
    func contains(_ method: String, about live: LiveID) -> Bool {
        self.calls.contains { $0.method == method && $0.live == live }
    }

    mutating func remove(handle: Int) { self.calls.removeAll { $0.handle == handle } }

    /// Marks all calls as not sent, because the connection is lost.
    mutating func connectionLost() {
        for index in self.calls.indices { self.calls[index].isSent = false }
    }

    /// Schedules another sending of a call, with the same id, if the server was too busy for it.
    ///
    /// - Returns: whether the call will be sent again; false if `error` is final, or if there were too many repeats or
    ///   no time is left.
    mutating func scheduleRepeat(handle: Int, _ error: ErrorInfo, at now: Double) -> Bool {
        guard error.isRetriable, let index = self.calls.firstIndex(where: { $0.handle == handle }),
            self.calls[index].repeats < Self.maxRepeats
        else { return false }
        let call = self.calls[index]
        let jitter = BackOff.pause(failures: call.repeats, random: self.random(), first: 200)
        let repeatAt = now + (error.retryMilliseconds ?? 1000) + jitter
        guard repeatAt < call.deadline else { return false }
        self.calls[index].isSent = false
        self.calls[index].repeats += 1
        self.calls[index].notBefore = repeatAt
        return true
    }

    /// Takes the frames to send now, in the order of the calls.
    ///
    /// Calls behind an unanswered join wait, because the server would refuse them with `notInRoom`. A call gets its id
    /// when it is first sent, because each new call of a session, including a login, needs a higher id than all calls
    /// before it.
    mutating func takeFrames(at now: Double, makeID: () -> Int64) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var unansweredCount = self.unansweredCount
        for index in self.calls.indices {
            guard unansweredCount < Self.maxUnanswered, self.sendAllowedAt <= now else { break }
            let call = self.calls[index]
            if !call.isSent, call.notBefore <= now {
                let age = call.firstSentAt.map { max(0, Int64((now - $0).rounded())) }
                let id = call.id ?? makeID()
                self.calls[index].firstSentAt = call.firstSentAt ?? now
                self.calls[index].id = id
                self.calls[index].isSent = true
                unansweredCount += 1
                self.sendTimes.append(now)
                if self.sendTimes.count > Self.maxCallsPerSecond { self.sendTimes.removeFirst() }
                frames.append(OutgoingFrame.call(id, call.method, call.params, age: age))
            }
            if call.isJoining { break }
        }
        return frames
    }

    /// Removes and returns the calls whose deadline has passed.
    mutating func takeExpired(at now: Double) -> [UnfinishedCall] {
        guard self.calls.contains(where: { $0.deadline <= now }) else { return [] }
        let expired = self.calls.filter { $0.deadline <= now }
        self.calls.removeAll { $0.deadline <= now }
        return expired
    }

    /// Removes and returns all calls.
    mutating func takeAll() -> [UnfinishedCall] {
        defer { self.calls = [] }
        return self.calls
    }

    /// When the next call expires or, on an open connection, may be sent again; infinite if nothing is due.
    func dueAt(isOpen: Bool) -> Double {
        var nextDue = Double.infinity
        var isBlocked = !isOpen || self.unansweredCount >= Self.maxUnanswered
        for call in self.calls {
            nextDue = min(nextDue, call.deadline)
            if !isBlocked, !call.isSent { nextDue = min(nextDue, max(call.notBefore, self.sendAllowedAt)) }
            if call.isJoining { isBlocked = true }
        }
        return nextDue
    }

    /// When another call may be sent without exceeding `maxCallsPerSecond`; minus infinity if at any time.
    private var sendAllowedAt: Double {
        self.sendTimes.count < Self.maxCallsPerSecond ? -.infinity : self.sendTimes[0] + 1000
    }

    private var unansweredCount: Int { self.calls.count { $0.isSent } }
}

/// The frames that a client sends.
enum OutgoingFrame {
    /// The maximum size of the parameters in bytes: a whole frame has at most 64 KiB, of which 256 bytes are reserved for
    /// its other fields.
    private static let maxParams = (64 << 10) - 256

    /// Writes a call.
    ///
    /// `age`: the milliseconds since the call was first sent; nil if it is sent for the first time.
    static func call(_ id: Int64, _ method: String, _ params: [UInt8], age: Int64? = nil) -> [UInt8] {
        var bytes = Array("{".utf8)
        if let age { bytes += Array("\"age\":\(age),".utf8) }
        bytes += Array("\"id\":\(id),\"method\":".utf8) + Wire.encode(method) + Array(",\"params\":".utf8)
        bytes += params
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Writes the parameters of a call.
    ///
    /// - Throws: `invalidParameter` for a number that JSON cannot express; `messageTooLong` for parameters so long that
    ///   the server would close the connection.
    static func params(_ params: [String: JSONValue]) throws(ErrorInfo) -> [UInt8] {
        guard params.values.allSatisfy(Self.isJSON) else {
            throw ErrorInfo(.invalidParameter, "a parameter is no finite number")
        }
        let bytes = Wire.encode(JSONValue.object(params))
        guard bytes.count <= Self.maxParams else {
            throw ErrorInfo(.messageTooLong, "the parameters have more than 64 KiB")
        }
        return bytes
    }

    private static func isJSON(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): number.isFinite
        case .array(let values): values.allSatisfy(Self.isJSON)
        case .object(let members): members.values.allSatisfy(Self.isJSON)
        case .null, .bool, .integer, .text: true
        }
    }
}
