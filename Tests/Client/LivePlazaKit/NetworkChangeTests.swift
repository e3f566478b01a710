// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

/// What a client does when its system loses a network, gets one, or changes from one to another.
///
/// Times are in milliseconds.
struct NetworkChangeTests {
    @Test func `a client without a network waits 30 s, and connects at once when there is one`() throws {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.setOnline(false, at: 0))
        harness.perform(harness.core.connectionClosed(code: CloseCode.lost, at: 0))
        #expect(harness.core.dueAt == 30_000)
        harness.perform(harness.core.setOnline(true, at: 10_000))
        // The attempts of many clients are spread over a second; the harness draws 0.5.
        #expect(harness.core.dueAt == 10_500)
        #expect(harness.connects == [false])
        harness.perform(harness.core.tick(at: 10_500))
        #expect(harness.connects == [false, true], "the next gateway, because the connection to the first was lost")
    }

    @Test func `a network that follows another one makes the client check its open connection`() throws {
        var harness = try CoreHarness.loggedIn()
        harness.perform(harness.core.setOnline(true, at: 5_000))
        #expect(harness.sent.count == 1)
        #expect(harness.sent.allSatisfy { $0.contains(#""method":"ping""#) })
        // The ping is not answered within 10 s: the connection is lost.
        harness.perform(harness.core.tick(at: 15_000))
        guard case .disconnected(CloseCode.lost) = harness.events.last else {
            Issue.record("not disconnected: \(harness.events)")
            return
        }
    }
}
