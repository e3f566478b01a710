// SPDX-License-Identifier: Apache-2.0
import Concurrency
import PlazaModel

@testable import Gateway

/// An in-memory topic of notices, which are messages to one user.
///
/// The topic gives each notice an offset, and delivers the notices to all gateways in one order.
final class NoticeTopic: Sendable {
    private struct State: Sendable {
        var gateways: [WeakGateway] = []
        /// The offset of the last notice; the first one gets 101.
        ///
        /// All partitions share one sequence of offsets here; in Kafka each partition has its own.
        var lastOffset: Int64 = 100
        /// Whether new notices are held back.
        var isHolding = false
        /// The notices that are held back, in the order in which they were written.
        var heldNotices: [Notice] = []
    }

    private struct WeakGateway: Sendable {
        weak var gateway: Gateway?
    }

    private let state = Locked(State())

    /// Adds a gateway, which gets all notices that are delivered from now on.
    func add(_ gateway: Gateway) { self.state.withLock { $0.gateways.append(WeakGateway(gateway: gateway)) } }

    /// Holds back the notices that are written from now on.
    func hold() { self.state.withLock { $0.isHolding = true } }

    /// Delivers the held-back notices, in the order in which they were written or in reverse, and holds back no more.
    func deliverHeldNotices(reversed: Bool = false) {
        let notices = self.state.withLock { state in
            state.isHolding = false
            defer { state.heldNotices = [] }
            return state.heldNotices
        }
        for notice in reversed ? notices.reversed() : notices { self.write(notice) }
    }

    /// The number of held-back notices.
    var heldNoticeCount: Int { self.state.withLock { $0.heldNotices.count } }

    /// Discards the held-back notices, and holds back no more.
    func discardHeldNotices() {
        self.state.withLock { state in
            state.isHolding = false
            state.heldNotices = []
        }
    }

    /// Writes a notice, which is delivered at once or held back.
    func write(_ notice: Notice) {
        // Notices are delivered under the lock, so that all gateways get the notices in the order of their offsets.
        self.state.withLock { state in
            guard !state.isHolding else { return state.heldNotices.append(notice) }
            state.lastOffset += 1
            let partition = PlazaTopic.partition(of: notice.to.text, among: FakeCluster.partitionCount)
            for entry in state.gateways {
                entry.gateway?.received(notice, partition: partition, offset: state.lastOffset)
            }
        }
    }
}
