// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
public import LivePlazaKit
internal import MachineKit
internal import PlazaWire

/// Shows the stores of a recorded client as they were at any moment of its recording.
///
/// The replayed client logs in, and enters and leaves lives, at the times at which the recorded client did. It receives
/// the recorded frames. It does not repeat other calls of the app, so it does not show what a store changes only
/// because of the reply to such a call:
///
/// - the list of lives, the gifts, the candidates for a connection, and an audience list that the app has read;
/// - the end of a request that the user has answered or cancelled itself, and the invitations and the co-host requests
///   that the user has sent, until the client reads the open requests again;
/// - that the user is muted, if the client has learned it only by the rejection of a message.
///
/// ```swift
/// let replay = SessionReplay(recording)
/// replay.advance(to: .seconds(42))
/// print(replay.plaza.barrageStore(liveID: "concert").state.value.messageList)
/// ```
public final class SessionReplay: Sendable {
    /// The replayed client.
    public let plaza: LivePlaza
    private let recording: SessionRecording
    private let queue: SimulationQueue
    private let clock: SimulationClock
    private let network: ReplayNetwork
    /// The index of the next entry of the recording.
    private let nextIndex = Locked(0)
    /// Whether the replay has called the client's login.
    private let hasLoggedIn = Locked(false)

    /// The maximum time by which the replay advances the clock to wait until the client connects or repeats a call.
    private static let maxWait = Milliseconds.seconds(60)

    /// Prepares a replay, which starts at the beginning of the recording.
    public init(_ recording: SessionRecording) {
        self.recording = recording
        let queue = SimulationQueue(DispatchQueue(label: "LivePlazaTesting.SessionReplay"))
        self.queue = queue
        // The clock may begin at any time of day, here in November 2023.
        self.clock = SimulationClock(start: .seconds(1_700_000_000))
        let network = ReplayNetwork()
        self.network = network
        // The timeouts are an hour: a recorded reply may come late by the replayed client's clock.
        let options = PlazaOptions(
            gateways: ["ws://replay/v1"], transport: network, deliveryQueue: queue.dispatchQueue,
            loginTimeout: .seconds(3600), callTimeout: .seconds(3600))
        // All random numbers of the client are 0, so it reconnects without a pause.
        self.plaza = LivePlaza(options: options, queue: EngineQueue(queue), clock: self.clock) { 0 }
    }

    /// Replays up to a moment, counted from the beginning of the recording; cannot go back to an earlier moment.
    public func advance(to moment: Duration) {
        self.queue.sync {
            let end = SimulationClock.zero + Milliseconds(moment)
            while true {
                let index = self.nextIndex.withLock { $0 }
                guard index < self.recording.entries.count, self.recording.entries[index].time <= end else { break }
                self.nextIndex.withLock { $0 += 1 }
                self.perform(self.recording.entries[index])
            }
            self.passTime(to: end)
        }
    }

    private func perform(_ entry: SessionRecording.Entry) {
        self.passTime(to: entry.time)
        switch entry.kind {
        case .connects: self.logIn()
        case .opened:
            self.wait(until: { $0.isConnecting })
            self.network.sendEvent(.opened)
        // 1006 stands for an end without a close frame (RFC 6455).
        case .closed: self.network.sendEvent(.closed(code: entry.code ?? 1006))
        case .sent: if let call = RecordedCall(entry) { self.repeatCall(call) }
        case .received:
            guard let text = entry.text, let frame = self.translated(text) else { return }
            self.network.sendEvent(.text(frame))
        }
        self.queue.drain()
    }

    /// Logs in, which makes the client connect; does nothing after the first time, because the client reconnects by
    /// itself.
    private func logIn() {
        let isFirstTime = self.hasLoggedIn.withLock { hasLoggedIn in
            defer { hasLoggedIn = true }
            return !hasLoggedIn
        }
        guard isFirstTime else { return }
        self.plaza.loginStore.login(
            sdkAppID: 1, userID: self.recording.userID, userSig: "replay", completion: nil)
        self.queue.drain()
    }

    /// Repeats the action of the app that made the recorded client send this call.
    private func repeatCall(_ call: RecordedCall) {
        self.network.addRecorded(call)
        switch call.method {
        case "live.join":
            if let live = call.live { self.plaza.liveListStore.joinLive(liveID: live, completion: nil) }
        case "live.create":
            guard let live = call.live else { return }
            var info = LiveInfo()
            info.liveID = live
            self.plaza.liveListStore.createLive(info, completion: nil)
        case "live.leave": self.plaza.liveListStore.leaveLive(completion: nil)
        // Most effects of the other calls are in the received frames. The type's documentation names the other effects.
        default: break
        }
        self.queue.drain()
    }

    /// Turns a recorded frame into the frame that the replayed client gets.
    ///
    /// A reply gets the id with which the replayed client has made the same call. Frames other than replies are
    /// returned unchanged.
    ///
    /// - Returns: The frame; nil for a reply to a call that the replayed client has not repeated.
    private func translated(_ text: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        guard let frame = try? Wire.decode(JSONValue.self, from: bytes),
            case .object(var reply)? = frame.members["reply"],
            case .integer(let recordedID)? = reply["id"]
        else { return bytes }
        guard self.network.isRepeated(recordedID) else { return nil }
        self.wait(until: { $0.replayedID(of: recordedID) != nil })
        guard let id = self.network.replayedID(of: recordedID) else { return nil }
        reply["id"] = .integer(id)
        return Wire.encode(JSONValue.object(["reply": .object(reply)]))
    }

    /// Advances the clock to `end`, and runs the timers that are due by then.
    private func passTime(to end: MonotonicTime) {
        self.queue.drain()
        while self.clock.runNextTimer(by: end) { self.queue.drain() }
        self.clock.advance(to: end)
    }

    /// Advances the clock from timer to timer until `isDone` returns true, by at most `maxWait`.
    private func wait(until isDone: (ReplayNetwork) -> Bool) {
        let end = self.clock.now + Self.maxWait
        self.queue.drain()
        while !isDone(self.network), let next = self.clock.nextTimerTime, next <= end { self.runTimers(at: next) }
    }

    private func runTimers(at time: MonotonicTime) {
        while self.clock.runNextTimer(by: time) { self.queue.drain() }
    }
}

/// A call in a recording.
struct RecordedCall {
    let id: Int64
    let method: String
    let live: String?

    init?(_ text: [UInt8]) {
        guard let fields = try? Wire.decode(JSONValue.self, from: text).members,
            case .integer(let id)? = fields["id"], case .text(let method)? = fields["method"]
        else { return nil }
        self.id = id
        self.method = method
        self.live = if case .text(let live)? = fields["params"]?.members["live"] { live } else { nil }
    }

    init?(_ entry: SessionRecording.Entry) {
        guard let text = entry.text else { return nil }
        self.init(Array(text.utf8))
    }
}

extension SessionRecording {
    /// The id of the user who logged in first; empty if no login succeeded.
    fileprivate var userID: String {
        for entry in self.entries where entry.kind == .received {
            guard let text = entry.text, let frame = try? Wire.decode(JSONValue.self, from: Array(text.utf8)),
                let result = frame.members["reply"]?.members["result"]?.members["loggedIn"]?.members,
                case .text(let user)? = result["user"]?.members["userID"]
            else { continue }
            return user
        }
        return ""
    }
}
