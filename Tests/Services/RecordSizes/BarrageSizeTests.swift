// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

/// The largest state of the fan-out.
///
/// `minKilobytes` has a minimum for each kind: a smaller row or record would show that the state is not the largest.
@Suite struct BarrageSizeTests {
    /// Rules: R17.6.
    @Test func `I16 every row and record of the largest feed is smaller than half of the broker's largest record`() {
        var machine = BarrageMachine(policies: Largest.policies)
        let gift = Gift(
            giftID: GiftID(Largest.word(0, bytes: 32)), name: Largest.quotationMarks(bytes: 100),
            desc: Largest.quotationMarks(bytes: 200),
            iconURL: Largest.quotationMarks(bytes: 200), resourceURL: Largest.quotationMarks(bytes: 200), level: 1000,
            coins: 1_000_000_000,
            extensionInfo: Largest.quotationMarks(bytes: 2048))
        let category = GiftCategory(categoryID: "c", name: "C", gifts: [gift])
        machine.updateSettings(
            AppTable([AppRecord(app: Largest.app, revision: 1, settings: AppSettings(gifts: [category]))]))
        var fanout = SizeHarness(machine)
        let key = Largest.key
        /// Sends a command; returns the code of the rejection, if there is one.
        func send(_ command: BarrageCommand) -> [ReplyCode] { fanout.send(BarrageInput(key, command)).rejections }
        #expect(send(.opened(epoch: Largest.offset, owner: Largest.user(0))) == [])
        _ = send(.rights(isMessageDisable: false, admins: Largest.info.admins, isGiftEnabled: true))
        // One user more than the lists of mutes and of floors (the users' lowest valid tickets) have space for.
        let inTenYears = Largest.now + .seconds(10 * 365 * 86_400)
        for index in 0...1000 {
            _ = send(.muted(user: Largest.user(20_000 + index), until: inTenYears))
            _ = send(.floor(user: Largest.user(20_000 + index), ticket: Ticket(Largest.offset + Int64(index))))
        }
        let stage = StageRecord(
            app: Largest.app, live: Largest.live, epoch: Largest.offset, revision: Largest.offset,
            seats: (0..<50).map { Largest.seat($0, of: Largest.live) })
        _ = send(.publish(content: .stage(record: stage, events: [])))
        for index in 0..<50 { #expect(send(.speaking(level: 100, caller: Largest.caller(index, counter: 1))) == []) }
        #expect(send(.sendLikes(count: 1000, caller: Largest.caller(0, counter: 1))) == [])
        // More senders than `UniqueCount.exactLimit`, each with the maximum number of gifts and receivers.
        for index in 0..<600 {
            #expect(
                send(
                    .sendGift(
                        giftID: gift.giftID, count: 255, receivers: (0..<50).map { Largest.user($0) },
                        caller: Largest.caller(index, counter: 2))) == [])
        }
        // A message has two texts of this length: its text and its extension info, or its business id and its data.
        let halfMessage = Largest.quotationMarks(bytes: Limits.messageBytes / 2)
        #expect(
            send(.sendText(text: halfMessage, extensionInfo: ["": halfMessage], caller: Largest.caller(1, counter: 3)))
                == [])
        // An extension info with many short names instead of one long text.
        let names = Dictionary(uniqueKeysWithValues: (0..<4000).map { (String($0, radix: 36), "") })
        #expect(send(.sendText(text: "x", extensionInfo: names, caller: Largest.caller(1, counter: 4))) == [])
        #expect(
            send(.sendCustom(businessID: halfMessage, data: halfMessage, caller: Largest.caller(1, counter: 5))) == [])
        // More rejections than the outcomes that a session's window stores.
        for counter in 10..<30 {
            let error = ReplyError(.giftCheckFailed, String(repeating: "\u{1}", count: 200), retryAfter: 1000)
            _ = send(.forbidden(error: error, isGift: true, caller: Largest.caller(2, counter: Int64(counter))))
        }
        // Messages of 9000 users use up the budget of one second: of its 10,000 items, 9000 may be messages of viewers.
        // The size of the row depends on the number of users, not of sessions, so the users share ten sessions.
        fanout.partition.now = fanout.partition.now + .seconds(2)
        for index in 0..<9000 {
            _ = send(
                .sendText(
                    text: "x", extensionInfo: nil,
                    caller: Largest.caller(index, counter: Int64(100 + index), session: index % 10)))
        }
        fanout.noteRows()
        fanout.sizes.expectBounded(minKilobytes: ["row feed": 300, "row backend": 15, "room.feed": 30])
    }
}
