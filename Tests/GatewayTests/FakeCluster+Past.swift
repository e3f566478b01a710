// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Dispatch
import GatewayCore
import Observability
import PlazaModel
import Testing

@testable import Gateway

/// The past, as Kafka keeps it.
extension FakeCluster: ReplaySource {
    func ask(_ id: ReplayID, _ request: ReplayRequest, partition: Int, until: Timestamp) -> Bool {
        let (isTaken, answers) = self.state.withLock { state in
            state.questions.append(request)
            let isTaken = state.past.add(id, request, partition: partition, until: until)
            return (isTaken, state.answersPast)
        }
        self.arrived.signal()
        if answers { self.answerPast() }
        return isTaken
    }

    /// Reads the past for all who ask, as the gateway's reader does.
    ///
    /// - Returns: how many passes that took.
    @discardableResult func answerPast() -> Int {
        let (outcomes, passes) = self.state.withLock { state in
            var outcomes: [ReplayOutcome] = []
            var passes = 0
            while var pass = state.past.next(besides: []) {
                passes += 1
                for (offset, record) in (state.feeds[pass.partition] ?? []).enumerated()
                where pass.bounds.contains(Int64(offset)) {
                    pass.take(record, at: Int64(offset))
                }
                let end = pass.finish()
                outcomes += end.groups.flatMap(\.outcomes)
                state.past.putBack(end.again, partition: pass.partition)
            }
            return (outcomes, passes)
        }
        self.gateway.replayed(outcomes, stock: nil)
        return passes
    }

    /// An item that is in Kafka, and that the gateway has not read.
    func record(_ number: Int64, in key: LiveKey) {
        let content = FeedContent.text(sender: UserInfo(userID: "anna"), text: "old", extensionInfo: nil)
        _ = self.keep(
            FeedItem(
                key: key, position: FeedPosition(epoch: Self.epoch, number: number),
                at: Timestamp(milliseconds: number), content: content))
    }

    /// Where an item's record is.
    func offset(of number: Int64, in key: LiveKey) -> Int64? {
        let partition = PlazaTopic.partition(of: key.text, among: 4)
        return self.state.withLock { state in
            state.feeds[partition]?.first { $0.key == key && $0.piece.number == number }?.piece.offset
        }
    }

    /// Resumes that were refused for a reason.
    func refusals(_ reason: String) -> Int {
        let family = self.registry.snapshot().first { $0.name == "gateway_replays_refused_total" }
        return (family?.samples ?? []).reduce(0) { sum, sample in
            guard sample.labels.pairs.first?.value == reason, case .number(let value) = sample.value else { return sum }
            return sum + Int(value)
        }
    }

    /// Waits until the gateway has asked the reader of the past so many questions.
    func asked(_ count: Int) throws { try self.wait { $0.questions.count >= count } }

    /// What is due was delivered, shed or cut off, and nothing is owed any more, once the shards have told (I10).
    func expectBalance(_ client: WireClient, sourceLocation: SourceLocation = #_sourceLocation) throws {
        func balance() -> (due: Int, settled: Int, owed: Int) {
            let fates = ["delivered", "shed", "disconnected"].map { self.metric("gateway_feed_\($0)_total") }
            return (self.metric("gateway_feed_due_total"), fates.reduce(0, +), self.metric("gateway_feed_owed"))
        }
        // A shard counts when its turn ends, which is later than what the client has read.
        var now = balance()
        for _ in 0..<30 where now.due != now.settled || now.owed != 0 {
            _ = client.isQuiet(milliseconds: 150)
            _ = try client.call("ping")
            now = balance()
        }
        #expect(now.owed == 0, sourceLocation: sourceLocation)
        #expect(now.due == now.settled, sourceLocation: sourceLocation)
    }

    /// Waits until something has come so far.
    func wait(_ isThere: (State) -> Bool) throws {
        let deadline = DispatchTime.now() + 10
        while !self.state.withLock({ isThere($0) }) {
            guard self.arrived.wait(timeout: deadline) == .success else {
                throw WireClient.Failure(description: "it did not come within 10 s")
            }
        }
    }

    /// Time passes: the gateway forgets the items of the last minute.
    func forgetItems() { self.gateway.feeds.tick(at: MonotonicClock.now + .seconds(61)) }
}
