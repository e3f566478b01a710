// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// A real client in one live, which records in order all that it receives.
final class Witness: Sendable {
    private struct State {
        var feed: FeedHistory
        var notices: [NoticeContent] = []
    }

    let name: String
    let user: UserID
    let live: LiveID
    let client: PlazaClient
    private let state: Locked<State>
    private let recordingTask: Locked<Task<Void, Never>?>

    init(_ name: String, user: UserID, in live: LiveID, _ client: PlazaClient) {
        self.name = name
        self.user = user
        self.live = live
        self.client = client
        self.state = Locked(State(feed: FeedHistory(client: name, live: live)))
        self.recordingTask = Locked(nil)
        let task = Task { [weak self] in
            while !Task.isCancelled {
                guard let update = await client.updates.next(before: .now + .milliseconds(200)) else { continue }
                self?.record(update)
            }
        }
        self.recordingTask.withLock { $0 = task }
    }

    deinit { self.stop() }

    /// Stops the client and the recording.
    func stop() {
        self.recordingTask.withLock { $0 }?.cancel()
        self.client.stop()
    }

    /// The feed items and gaps that the client has received so far.
    var feed: FeedHistory { self.state.withLock { $0.feed } }
    /// The notices that the client has received so far.
    var notices: [NoticeContent] { self.state.withLock { $0.notices } }

    /// The last stage that the client has received.
    var stage: StageRecord? {
        self.state.withLock { state in
            for case .item(_, _, .stage(let record, _)) in state.feed.steps.reversed() { return record }
            return nil
        }
    }

    /// Waits until a condition holds.
    ///
    /// - Returns: false if it does not hold within `limit`.
    func wait(within limit: Duration, until isTrue: (Witness) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while !isTrue(self) {
            guard ContinuousClock.now < deadline else { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    private func record(_ update: ClientUpdate) {
        self.state.withLock { state in
            switch update {
            case .feed(let entries, let epoch):
                state.feed.steps += entries.map { .item(epoch: epoch, number: $0.n, content: $0.content) }
            case .event(.resumed(_, replayed: false)), .event(.resumeFailed): state.feed.steps.append(.gap)
            case .event(.notice(let notice)): state.notices.append(notice.content)
            case .history, .event: break
            }
        }
    }
}
