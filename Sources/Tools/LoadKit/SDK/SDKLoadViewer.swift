// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import LivePlazaCombine
internal import LivePlazaKit
internal import Observability
internal import Synchronization

/// What the viewers of a delivery queue have shown; changed only on that queue, and read at the end.
final class SDKLoadTally: Sendable {
    struct Counts: Sendable {
        var shown = 0
        var repeated = 0
        var reordered = 0
        var latencies = Histogram()
    }

    let counts = Mutex(Counts())

    /// Counts a message with this number, which a viewer shows after `last`.
    func shows(_ number: Int, after last: Int, sentAt: Int64) {
        let latency = Int(WallClock.nanoseconds() / 1000 - sentAt)
        self.counts.withLock { counts in
            counts.shown += 1
            if number <= last { counts.repeated += 1 }
            if number > last + 1 { counts.reordered += 1 }
            counts.latencies.record(latency)
        }
    }
}

/// One instance of the SDK in a load run, as an app uses it.
final class SDKLoadViewer: Sendable {
    private struct State {
        /// The number of the last message that it has shown.
        var last = 0
        /// The feed's number of the last message that it has shown.
        var lastSequence = 0
    }

    let plaza: LivePlaza
    private let userID: String
    private let live: String
    private let state = Mutex(State())
    private let subscription = Locked<AnyCancellable?>(nil)

    init(_ userID: String, in live: String, _ options: PlazaOptions, _ tally: SDKLoadTally) {
        self.userID = userID
        self.live = live
        self.plaza = LivePlaza(options: options)
        let messages = self.plaza.barrageStore(liveID: live).state
            .subscribe(StatePublisherSelector(keyPath: \.messageList))
        let subscription = messages.sink { [weak self] messages in self?.show(messages, tally) }
        self.subscription.withLock { $0 = subscription }
    }

    func enter(_ plan: SDKLoadPlan, asOwner isOwner: Bool) async throws {
        try await self.plaza.loginStore.login(
            sdkAppID: plan.sdkAppID, userID: self.userID, userSig: plan.token(self.userID))
        guard isOwner else {
            _ = try await self.plaza.liveListStore.joinLive(liveID: self.live)
            return
        }
        var info = LiveInfo()
        info.liveID = self.live
        _ = try await self.plaza.liveListStore.createLive(info)
    }

    /// Sends the message with a number and the time.
    func send(_ number: Int) async throws {
        let text = "\(number) \(WallClock.nanoseconds() / 1000)"
        try await self.plaza.barrageStore(liveID: self.live).sendTextMessage(text: text)
    }

    func end(asOwner isOwner: Bool) async {
        if isOwner { _ = try? await self.plaza.liveListStore.endLive() }
        try? await self.plaza.loginStore.logout()
        self.subscription.withLock { $0 = nil }
    }

    private func show(_ messages: [Barrage], _ tally: SDKLoadTally) {
        self.state.withLock { state in
            var first = messages.endIndex
            while first > messages.startIndex, messages[first - 1].sequence > state.lastSequence { first -= 1 }
            for message in messages[first...] {
                state.lastSequence = message.sequence
                let words = message.textContent.split(separator: " ")
                guard words.count == 2, let number = Int(words[0]), let sentAt = Int64(words[1]) else { continue }
                tally.shows(number, after: state.last, sentAt: sentAt)
                state.last = max(state.last, number)
            }
        }
    }
}
