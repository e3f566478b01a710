// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import LivePlazaCombine
internal import LivePlazaKit
internal import Observability
internal import Synchronization

/// Counts the messages that the instances of one delivery queue have shown.
///
/// Only that queue changes the counts. The run reads them while it waits for messages, and at the end.
final class SDKLoadTally: Sendable {
    /// The numbers of shown messages, as in `SDKLoadReport`, and their latencies in microseconds.
    struct Counts: Sendable {
        var shown = 0
        var repeated = 0
        var reordered = 0
        var latencies = Histogram()
    }

    let counts = Mutex(Counts())
    /// The clock of the run, by which both the sending and the showing of messages are timed.
    let clock: Stopwatch

    init(_ clock: Stopwatch) { self.clock = clock }

    /// Counts a message that an instance has shown.
    ///
    /// - Parameters:
    ///   - number: the message's number within its live.
    ///   - last: the highest message number that the instance has shown before; 0 for none.
    ///   - sentAt: when the message was sent, in microseconds of `clock`.
    func recordShown(_ number: Int, after last: Int, sentAt: Int64) {
        let latency = Int(self.clock.microseconds - sentAt)
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
        /// The highest message number within the live that the instance has shown.
        var lastNumber = 0
        /// The feed number of the last message that the instance has shown.
        var lastSequence = 0
    }

    let plaza: LivePlaza
    private let userID: String
    private let live: String
    private let clock: Stopwatch
    private let state = Mutex(State())
    private let subscription = Locked<AnyCancellable?>(nil)

    init(_ userID: String, in live: String, _ options: PlazaOptions, _ tally: SDKLoadTally) {
        self.userID = userID
        self.live = live
        self.clock = tally.clock
        self.plaza = LivePlaza(options: options)
        let messages = self.plaza.barrageStore(liveID: live).state
            .subscribe(StatePublisherSelector(keyPath: \.messageList))
        let subscription = messages.sink { [weak self] messages in self?.show(messages, tally) }
        self.subscription.withLock { $0 = subscription }
    }

    /// Logs in, and creates the live as its owner or joins it as a viewer.
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

    /// Sends a message whose text is its number and the time, in microseconds of the run's clock.
    func send(_ number: Int) async throws {
        let text = "\(number) \(self.clock.microseconds)"
        try await self.plaza.barrageStore(liveID: self.live).sendTextMessage(text: text)
    }

    /// Ends the live as its owner, logs out, and cancels the subscription.
    func end(asOwner isOwner: Bool) async {
        // Failures are ignored, because the measurement is over.
        if isOwner { _ = try? await self.plaza.liveListStore.endLive() }
        try? await self.plaza.loginStore.logout()
        self.subscription.withLock { $0 = nil }
    }

    /// Records the messages at the end of the list that the instance has not shown yet.
    private func show(_ messages: [Barrage], _ tally: SDKLoadTally) {
        self.state.withLock { state in
            var firstNewIndex = messages.endIndex
            while firstNewIndex > messages.startIndex, messages[firstNewIndex - 1].sequence > state.lastSequence {
                firstNewIndex -= 1
            }
            for message in messages[firstNewIndex...] {
                state.lastSequence = message.sequence
                let words = message.textContent.split(separator: " ")
                guard words.count == 2, let number = Int(words[0]), let sentAt = Int64(words[1]) else { continue }
                tally.recordShown(number, after: state.lastNumber, sentAt: sentAt)
                state.lastNumber = max(state.lastNumber, number)
            }
        }
    }
}
