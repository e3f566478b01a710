// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// A real client in one live, which records in order all that it receives.
final class Witness: Sendable {
    private struct State {
        var feed: FeedHistory
        var notices: [(content: NoticeContent, at: Timestamp)] = []
    }

    let name: String
    let user: UserID
    let live: LiveID
    let client: PlazaClient
    private let state: Locked<State>
    private let recordingTask: Locked<Task<Void, Never>?>

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - name: the client's name in findings.
    ///   - user: the client's user.
    ///   - live: the live that the client will join.
    ///   - client: the client, whose updates nobody else reads.
    ///   - isLate: whether the client joins when the feed has begun already, so that it misses the first items.
    init(_ name: String, user: UserID, in live: LiveID, _ client: PlazaClient, isLate: Bool = false) {
        self.name = name
        self.user = user
        self.live = live
        self.client = client
        self.state = Locked(State(feed: FeedHistory(client: name, live: live, steps: isLate ? [.gap] : [])))
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
    var notices: [NoticeContent] { self.state.withLock { $0.notices.map(\.content) } }
    /// When the client received each notice.
    var noticeTimes: [Timestamp] { self.state.withLock { $0.notices.map(\.at) } }
    /// The number of gaps in the feed so far: places at which the client may have missed items.
    var gapCount: Int { self.state.withLock { $0.feed.steps.count { $0 == .gap } } }
    /// Whether the client has received the notice of its removal from the live.
    var isRemoved: Bool { self.state.withLock { $0.feed.steps.contains(.removed) } }

    /// The last stage that the client has received.
    var stage: StageRecord? {
        self.state.withLock { state in
            for case .item(_, _, .stage(let record, _), _) in state.feed.steps.reversed() { return record }
            return nil
        }
    }

    /// Records a gap, because the client enters the live again and has missed the items since it left.
    func markGap() { self.state.withLock { $0.feed.append([.gap]) } }

    /// Records that the client has left the live, and stops the client.
    func stopAfterLeaving() {
        self.stop()
        self.state.withLock { $0.feed.leave() }
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
        let now = Timestamp.ofThisMachine
        self.state.withLock { state in
            switch update {
            case .feed(let entries, let epoch):
                state.feed.append(entries.map { .item(epoch: epoch, number: $0.n, content: $0.content, at: now) })
            case .event(.resumed(_, replayed: false)), .event(.resumeFailed): state.feed.append([.gap])
            case .event(.notice(let notice)):
                state.notices.append((notice.content, now))
                if case .kickedOut = notice.content, notice.live == self.live { state.feed.append([.removed]) }
            case .history, .event: break
            }
        }
    }
}

extension Timestamp {
    /// The time of this machine's clock, for histories that people read beside logs.
    static var ofThisMachine: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
