// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// The taps of an app that are sent together.
@Suite struct LikeBatchTests {
    private let harness = StoreHarness(answers: ["like.send": ["done": [:]]])

    /// The numbers of likes in the calls that the client has sent.
    private var sentCounts: [JSONValue?] {
        let sent = self.harness.network.socket?.sent ?? []
        return sent.filter { $0.method == "like.send" }.map { $0.params.members["count"] }
    }

    @Test func `a tap between the end of the pause and the call of the batch is sent with the batch`() {
        let plaza = self.harness.makeClient()
        self.harness.loginAndEnter(plaza)
        let likes = plaza.likeStore(liveID: "concert")
        let successes = Locked(0)
        func tap(_ count: UInt) {
            likes.sendLike(count: count) { result in
                if case .success = result { successes.withLock { $0 += 1 } }
            }
            self.harness.queue.drain()
        }
        tap(1)
        tap(2)
        #expect(self.sentCounts == [1])
        // The pause has ended, and the task of the batch has not continued yet.
        plaza.stores(of: "concert").likeTaps.withLock { $0.isPaused = false }
        tap(3)
        #expect(self.sentCounts == [1])
        self.harness.clock.advance(by: .seconds(2), self.harness.queue)
        #expect(self.sentCounts == [1, 5])
        #expect(successes.withLock { $0 } == 3)
    }
}
