// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@testable import LivePlazaKit

/// What a client does when its system loses a network, gets one, or changes from one to another.
struct NetworkChangeTests {
    @Test func `a client without a network waits 30 s, but at most 1 s once there is a network`() throws {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.setOnline(false, at: .seconds(0)))
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(0)))
        #expect(harness.core.dueAt == .seconds(30))
        harness.perform(harness.core.setOnline(true, at: .seconds(10)))
        // The attempts of many clients are spread over 1 s; with the harness's random number 0.5 this attempt is due
        // after 500 ms.
        #expect(harness.core.dueAt == .milliseconds(10_500))
        #expect(harness.attemptsAtNextAddress == [false], "expected no second attempt before it is due")
        harness.perform(harness.core.tick(at: .milliseconds(10_500)))
        // The second attempt is to the next gateway, because the connection to the first was lost.
        #expect(harness.attemptsAtNextAddress == [false, true])
    }

    @Test func `a client that changes from one network to another checks its open connection with a ping`() throws {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.setOnline(true, at: .seconds(5)))
        #expect(harness.sent.count == 1)
        #expect(harness.sent.allSatisfy { $0.contains(#""method":"ping""#) })
        // The ping is not answered within 10 s, so the connection counts as lost.
        harness.perform(harness.core.tick(at: .seconds(15)))
        guard case .disconnected(ClientCloseCode.lost) = harness.events.last else {
            Issue.record("expected that the connection counts as lost: \(harness.events)")
            return
        }
    }

    @Test func `a client that loses its network checks its connection, which counts as lost after 5 s of silence`()
        throws
    {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.setOnline(false, at: .seconds(1)))
        #expect(harness.sent.count == 1)
        #expect(harness.sent.allSatisfy { $0.contains(#""method":"ping""#) })
        #expect(harness.core.dueAt == .seconds(6))
        harness.perform(harness.core.tick(at: .seconds(6)))
        guard case .disconnected(ClientCloseCode.lost) = harness.events.last else {
            Issue.record("expected that the connection counts as lost: \(harness.events)")
            return
        }
        #expect(harness.core.dueAt == .seconds(36), "the pause without a network lasts 30 s")
    }

    @Test func `the wait for an answer to a ping is 5 s without a network, and 10 s once there is a network again`()
        throws
    {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.tick(at: .seconds(20)))
        harness.perform(harness.core.setOnline(false, at: .seconds(21)))
        #expect(harness.sent.count == 1, "no second ping is sent")
        #expect(harness.core.dueAt == .seconds(25), "5 s after the ping")
        harness.perform(harness.core.setOnline(true, at: .seconds(22)))
        #expect(harness.core.dueAt == .seconds(30), "10 s after the ping")
    }

    @Test func `a client that finds a ping unanswered for long when the app is shown connects at once`() throws {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.tick(at: .seconds(20)))
        #expect(harness.sent.count == 1)
        // The device slept, so no timer reported that the ping was not answered within 10 s.
        harness.perform(harness.core.probeConnection(at: .seconds(600)))
        guard case .disconnected(ClientCloseCode.lost) = harness.events.last else {
            Issue.record("expected that the connection counts as lost: \(harness.events)")
            return
        }
        #expect(harness.core.dueAt == .seconds(600), "expected the next attempt at once")
    }
}
