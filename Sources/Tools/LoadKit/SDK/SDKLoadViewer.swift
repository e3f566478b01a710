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
///
/// Changed only by the run's task, and on the delivery queue through its subscription.
final class SDKLoadViewer: @unchecked Sendable {
    let plaza: LivePlaza
    private let userID: String
    private let live: String
    private var subscription: AnyCancellable?
    /// The number of the last message that it has shown.
    private var last = 0
    /// The feed's number of the last message that it has shown.
    private var lastSequence = 0

    init(_ userID: String, in live: String, _ options: PlazaOptions, _ tally: SDKLoadTally) {
        self.userID = userID
        self.live = live
        self.plaza = LivePlaza(options: options)
        self.subscription = self.plaza.barrageStore(liveID: live).state
            .subscribe(StatePublisherSelector(keyPath: \.messageList))
            .sink { [weak self] messages in self?.show(messages, tally) }
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
        self.subscription = nil
    }

    private func show(_ messages: [Barrage], _ tally: SDKLoadTally) {
        var first = messages.endIndex
        while first > messages.startIndex, messages[first - 1].sequence > self.lastSequence { first -= 1 }
        for message in messages[first...] {
            self.lastSequence = message.sequence
            let words = message.textContent.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]), let sentAt = Int64(words[1]) else { continue }
            tally.shows(number, after: self.last, sentAt: sentAt)
            self.last = max(self.last, number)
        }
    }
}
