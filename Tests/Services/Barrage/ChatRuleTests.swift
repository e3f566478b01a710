// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// The rules for chat messages: mutes, rates and contents (R5.6, R5.7 and R15.9 in docs/RULES.md).
///
/// alice is the owner of the live.
@Suite struct ChatRuleTests {
    /// Rules: R5.7.
    @Test func `a muted user cannot write until the mute ends by the machine's time`() {
        var barrage = BarrageHarness()
        let until = barrage.now + .seconds(60)
        #expect(barrage.send(.muted(user: "bob", until: until)) == [])
        let rejected = barrage.sendText(user("bob", call: 1))
        #expect(rejected.code == .userMuted)
        #expect(rejected.retryAfter == 60_000, "expected the rest of the mute, in milliseconds")
        #expect(barrage.sendText(user("carl", call: 1)).wasSent)
        _ = barrage.advance(milliseconds: 59_999)
        #expect(barrage.sendText(user("bob", call: 2)).retryAfter == 1)
        _ = barrage.advance(milliseconds: 1)
        #expect(barrage.sendText(user("bob", call: 3)).wasSent)
        barrage.expectInvariants()
    }

    @Test func `a mute without end gives no retry hint and ends when it is lifted`() {
        var barrage = BarrageHarness()
        _ = barrage.send(.muted(user: "bob", until: nil))
        let elevenDays: Int64 = 11 * 24 * 60 * 60 * 1000
        _ = barrage.advance(milliseconds: elevenDays)
        let rejected = barrage.sendText(user("bob", call: 1))
        #expect(rejected.code == .userMuted)
        #expect(rejected.retryAfter == nil)
        #expect(barrage.send(.unmuted(user: "bob")) == [])
        #expect(barrage.sendText(user("bob", call: 2)).wasSent)
        // carl is not muted, and the live `none` is unknown: neither command has an effect.
        #expect(barrage.send(.unmuted(user: "carl")) == [])
        #expect(barrage.send(.muted(user: "bob", until: nil), to: LiveKey(app, "none")) == [])
    }

    /// Rules: R4.18.
    @Test func `a mute stays in force when the user is kicked and joins again, and a newer mute replaces it`() {
        var barrage = BarrageHarness()
        _ = barrage.send(.muted(user: "bob", until: nil))
        // bob is kicked: 200 is now the lowest ticket that he may still use. He joins again and gets ticket 300.
        _ = barrage.send(.floor(user: "bob", ticket: Ticket(200)))
        #expect(barrage.sendText(user("bob", call: 1, ticket: 300)).code == .userMuted)
        _ = barrage.send(.muted(user: "bob", until: barrage.now + .seconds(1)))
        _ = barrage.advance(milliseconds: 1_000)
        #expect(barrage.sendText(user("bob", call: 2, ticket: 300)).wasSent)
        // A mute of a user with the same id as the app's server does not apply to the server.
        _ = barrage.send(.muted(user: "backend", until: nil))
        #expect(barrage.sendText(server(call: 1)).wasSent)
    }

    @Test func `I16 beyond the limit, the mutes that expire first are removed`() {
        var mutes = Mutes()
        // Ten mutes more than the limit: the mute of u0 expires last, and the mute of each further user a millisecond
        // earlier.
        let highestNumber = Mutes.limit + 9
        for number in 0...highestNumber {
            mutes.set(UserID("u\(number)"), until: Timestamp(milliseconds: 1_000_000 - Int64(number)))
        }
        mutes.set("forever", until: .distantFuture)
        #expect(mutes.mutes.count == Mutes.limit)
        let now = Timestamp(milliseconds: 0)
        #expect(mutes.remainingTime(of: "u0", at: now) != nil)
        #expect(
            mutes.remainingTime(of: UserID("u\(highestNumber)"), at: now) == nil,
            "expected that the mute which expires first was removed")
        #expect(mutes.remainingTime(of: "forever", at: now) != nil, "expected that a mute without end stays")
    }

    /// Rules: R5.9.
    @Test func `mutes apply neither to gifts and likes nor to messages of the app's server`() {
        let gifts = [GiftCategory(categoryID: "all", name: "All", gifts: [Gift(giftID: "rose", name: "Rose")])]
        // Both bob and the live are muted.
        var barrage = BarrageHarness(settings: AppSettings(gifts: gifts))
        _ = barrage.send(.muted(user: "bob", until: nil))
        _ = barrage.send(.rights(isMessageDisable: true, admins: ["adam"], isGiftEnabled: true))
        #expect(barrage.sendText(user("bob", call: 1)).code == .roomMuted)
        #expect(
            barrage.send(.sendGift(giftID: "rose", count: 1, receivers: [], caller: user("bob", call: 2))).outcome
                .wasSent)
        #expect(barrage.send(.sendLikes(count: 3, caller: user("bob", call: 3))).outcome == .success(result: .done))
        #expect(barrage.sendText(server(call: 1)).wasSent)
    }

    /// Rules: R5.12.
    @Test func `a user beyond the app's message rate is rejected`() {
        var barrage = BarrageHarness(messagesPerUserPerSecond: 3)
        for counter in 1...3 {
            #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent)
            _ = barrage.advance(milliseconds: 100)
        }
        let rejected = barrage.sendText(user("bob", call: 4))
        #expect(rejected.code == .tooFrequent)
        #expect(rejected.retryAfter == 700, "expected 1000 - 300 ms, because bob's first message is 300 ms old")
        // The rate is counted for each user, over all its sessions. It applies to custom messages and to the live's
        // owner, but not to the app's server.
        #expect(barrage.sendText(user("carl", call: 1)).wasSent)
        var otherSession = user("bob", call: 1)
        otherSession.request = RequestID(session: "another", counter: 1)
        #expect(barrage.sendText(otherSession).code == .tooFrequent)
        let custom = BarrageCommand.sendCustom(businessID: "b", data: "d", caller: user("bob", call: 5))
        #expect(barrage.send(custom).outcome.code == .tooFrequent)
        for counter in 1...3 { #expect(barrage.sendText(user("alice", call: Int64(counter))).wasSent) }
        #expect(barrage.sendText(user("alice", call: 4)).code == .tooFrequent)
        for counter in 1...20 { #expect(barrage.sendText(server(call: Int64(counter))).wasSent) }
        // Now bob's first message is a second old, his second and third are not.
        _ = barrage.advance(milliseconds: 700)
        #expect(barrage.sendText(user("bob", call: 6)).wasSent)
        #expect(barrage.sendText(user("bob", call: 7)).code == .tooFrequent)
        barrage.expectInvariants()
    }

    /// Rules: R5.13.
    @Test func `a message with one of the app's words, in any case and any part that viewers see, is rejected`() {
        var barrage = BarrageHarness(settings: AppSettings(words: ["Spam", "敏感"]))
        #expect(barrage.sendText(user("bob", call: 1), "no SPAM here").code == .sensitiveWords)
        #expect(barrage.sendText(user("bob", call: 2), "这是敏感词").code == .sensitiveWords)
        #expect(barrage.sendText(user("bob", call: 3), "span").wasSent, "expected success: span is not spam")
        func send(_ command: BarrageCommand) -> Outcome? { barrage.send(command).outcome }
        let extra = ["title": "spammer"]
        #expect(send(.sendText(text: "hi", extensionInfo: extra, caller: user("bob", call: 4))).code == .sensitiveWords)
        #expect(
            send(.sendText(text: "hi", extensionInfo: ["spam": "x"], caller: user("bob", call: 5))).wasSent,
            "expected success, because viewers do not see the names of keys")
        let custom = BarrageCommand.sendCustom(businessID: "spam", data: "{}", caller: user("bob", call: 6))
        #expect(send(custom).wasSent, "expected success, because viewers do not see the business id")
        #expect(send(.sendCustom(businessID: "x", data: "spam", caller: user("bob", call: 7))).code == .sensitiveWords)
        #expect(barrage.sendText(server(call: 1), "spam").code == .sensitiveWords)
        // Three messages entered. The rejected messages used neither numbers nor budget.
        #expect(barrage.feed?.lastNumber == 3)
        #expect(barrage.feed?.admissions.count == 3)
        barrage.expectInvariants()
    }

    @Test func `an app's words change at run time, for that app alone`() {
        var barrage = BarrageHarness(settings: AppSettings(words: ["one"]))
        #expect(barrage.sendText(user("bob", call: 1), "one").code == .sensitiveWords)
        let table = AppTable([
            AppRecord(app: app, revision: 2, settings: AppSettings(words: ["two"])),
            AppRecord(app: "other", revision: 1, settings: AppSettings(words: ["three"])),
        ])
        barrage.machine.updateSettings(table)
        #expect(barrage.sendText(user("bob", call: 2), "one").wasSent)
        #expect(barrage.sendText(user("bob", call: 3), "two").code == .sensitiveWords)
        #expect(barrage.sendText(user("bob", call: 4), "three").wasSent)
        // bob's call 1 is sent again, and gets its first reply although the word is allowed now.
        #expect(barrage.sendText(user("bob", call: 1), "one").code == .sensitiveWords)
    }

    @Test func `each of many apps has its own words and budget`() {
        var machine = BarrageMachine(policies: Policies(["app-3": AppPolicy(feedBudget: 7)]))
        machine.updateSettings(
            AppTable(
                (0..<20).map {
                    AppRecord(app: AppID("app-\($0)"), revision: 1, settings: AppSettings(words: ["word-\($0)"]))
                }))
        for number in 0..<20 {
            let rules = machine.rules[AppID("app-\(number)")]
            #expect(rules.filter.matches("word-\(number)"))
            #expect(!rules.filter.matches("word-x"))
            let (ownBudget, defaultBudget) = (7, 40)
            #expect(rules.budget.total == (number == 3 ? ownBudget : defaultBudget))
        }
        #expect(machine.rules["unknown"].filter.isEmpty)
    }

    @Test func `a text of host or app's server enters despite mutes, a viewer's unless muted, an outsider's never`() {
        // alice is the owner, adam an admin, bob a viewer; a caller without a ticket is not in the live (R15.9).
        let matrix: [(caller: Caller, isLiveMuted: Bool, isCallerMuted: Bool, error: ReplyCode?)] = [
            (user("alice", call: 1), isLiveMuted: true, isCallerMuted: false, error: nil),
            (user("adam", call: 1), isLiveMuted: true, isCallerMuted: false, error: nil),
            (user("bob", call: 1), isLiveMuted: false, isCallerMuted: false, error: nil),
            (user("bob", call: 2), isLiveMuted: true, isCallerMuted: false, error: .roomMuted),
            (user("bob", call: 3), isLiveMuted: false, isCallerMuted: true, error: .userMuted),
            (user("bob", call: 4), isLiveMuted: true, isCallerMuted: true, error: .roomMuted),
            (user("adam", call: 2), isLiveMuted: false, isCallerMuted: true, error: nil),
            (user("adam", call: 3), isLiveMuted: true, isCallerMuted: true, error: nil),
            (server(call: 1), isLiveMuted: true, isCallerMuted: false, error: nil),
            (user("bob", call: 5, ticket: nil), isLiveMuted: false, isCallerMuted: false, error: .notInRoom),
            (user("alice", call: 2, ticket: nil), isLiveMuted: false, isCallerMuted: false, error: .notInRoom),
        ]
        for (caller, isLiveMuted, isCallerMuted, expected) in matrix {
            var barrage = BarrageHarness()
            _ = barrage.send(.rights(isMessageDisable: isLiveMuted, admins: ["adam"], isGiftEnabled: true))
            if isCallerMuted { _ = barrage.send(.muted(user: caller.userID, until: nil)) }
            let outcome = barrage.sendText(caller)
            #expect(
                outcome.code == expected,
                "\(caller.userID), live is muted: \(isLiveMuted), caller is muted: \(isCallerMuted)")
            #expect(barrage.feed?.lastNumber == (expected == nil ? 1 : 0))
        }
    }

    @Test func `a message is rejected first for a lack of membership, then for its content, then for a mute`() {
        var barrage = BarrageHarness()
        _ = barrage.send(.rights(isMessageDisable: true, admins: [], isGiftEnabled: true))
        _ = barrage.send(.muted(user: "bob", until: nil))
        let tooLong = String(repeating: "x", count: Limits.messageBytes + 1)
        #expect(barrage.sendText(user("bob", call: 1, ticket: nil), "").code == .notInRoom)
        #expect(barrage.sendText(user("bob", call: 2), "").code == .badParameter)
        #expect(barrage.sendText(user("bob", call: 3), tooLong).code == .messageTooLong)
        #expect(barrage.sendText(user("bob", call: 4), "x").code == .roomMuted)
    }

    /// Rules: R5.8.
    @Test func `a muted user can write while it is an admin, but not after its rights are revoked`() {
        var barrage = BarrageHarness()
        _ = barrage.send(.muted(user: "adam", until: barrage.now + .seconds(60)))
        #expect(barrage.sendText(user("adam", call: 1)).code == .userMuted)
        _ = barrage.send(.rights(isMessageDisable: false, admins: ["adam"], isGiftEnabled: true))
        #expect(barrage.sendText(user("adam", call: 2)).wasSent)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(barrage.sendText(user("adam", call: 3)).code == .userMuted, "expected that the mute still holds")
    }

    @Test func `I9 the owner's messages may use the whole budget, those of viewers nine tenths of it`() {
        var barrage = BarrageHarness()
        // The budget is 40 items a second. The messages of viewers may use 36 of them, the owner's messages all 40.
        for counter in 1...36 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        #expect(barrage.sendText(user("carl", call: 1)).code == .droppedByBudget)
        for counter in 1...4 { #expect(barrage.sendText(user("alice", call: Int64(counter))).wasSent) }
        // Beyond the budget, the owner's messages and those of the app's server are dropped, too.
        #expect(barrage.sendText(user("alice", call: 5)).code == .droppedByBudget)
        #expect(barrage.sendText(server(call: 1)).code == .droppedByBudget)
        #expect(barrage.feed?.admissions.count == 40)
        barrage.expectInvariants()
    }
}
