// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@testable import GatewayCore

/// The calls of one client that wait for decisions of the app's backend.
///
/// A call's content here is a text, and so is a decision. If no decision comes by a call's deadline, its fallback
/// counts. Times are in milliseconds.
@Suite struct PendingCallsTests {
    private var calls = PendingCalls<String, String>()

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: 1_000_000 + milliseconds) }

    /// Removes all calls that may proceed, and returns each with its decision.
    private mutating func takeDecided() -> [String] {
        var taken: [String] = []
        while let (call, decision) = self.calls.takeFirstDecided() { taken.append("\(call) \(decision)") }
        return taken
    }

    /// Rules: R14.12.
    @Test mutating func `calls proceed in their order, whatever the order of the decisions`() {
        self.calls.append(1, "text", fallback: "silence", deadline: self.time(3000))
        self.calls.append(2, "gift", fallback: "silence", deadline: self.time(3000))
        self.calls.append(3, "like", decision: "allowed")
        #expect(self.calls.count == 3 && self.calls.contains(3))
        #expect(self.calls.decide(2, "refused") == true)
        #expect(self.takeDecided() == [])
        #expect(self.calls.decide(1, "allowed") == true)
        #expect(self.takeDecided() == ["text allowed", "gift refused", "like allowed"])
        #expect(self.calls.isEmpty)
    }

    /// Rules: R14.9.
    @Test mutating func `at its deadline the fallback decides about a call, and about no other call`() {
        self.calls.append(1, "text", fallback: "silence", deadline: self.time(3000))
        self.calls.append(2, "like", decision: "allowed")
        self.calls.append(3, "gift", fallback: "silence", deadline: self.time(3500))
        #expect(self.calls.decideOverdue(at: self.time(2999)) == 0)
        #expect(self.takeDecided() == [])
        #expect(self.calls.decideOverdue(at: self.time(3000)) == 1)
        #expect(self.calls.decideOverdue(at: self.time(3001)) == 0, "it has its decision")
        #expect(self.takeDecided() == ["text silence", "like allowed"])
        #expect(self.calls.decide(3, "refused") == true)
        #expect(self.calls.decideOverdue(at: self.time(9000)) == 0, "a decision that was received counts")
        #expect(self.takeDecided() == ["gift refused"])
    }

    @Test mutating func `a decision about a call that does not wait for one is ignored`() {
        self.calls.append(1, "text", fallback: "silence", deadline: self.time(0))
        self.calls.append(2, "like", decision: "allowed")
        #expect(self.calls.decide(2, "refused") == false, "the call waits for no decision")
        #expect(self.calls.decide(7, "refused") == false)
        #expect(self.calls.decideOverdue(at: self.time(0)) == 1)
        #expect(self.calls.decide(1, "refused") == false, "the decision comes too late")
        #expect(self.takeDecided() == ["text silence", "like allowed"])
    }
}
