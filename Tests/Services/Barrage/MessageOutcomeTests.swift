// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// The outcomes of calls to a feed, in the packed form that a row stores.
@Suite struct MessageOutcomeTests {
    @Test(arguments: 1...10) func `I15 a window of packed outcomes answers like a window of full outcomes`(
        seed: UInt64
    ) throws {
        // Both windows get the same calls. `MessageWindow` stores packed outcomes. `CallWindow`, which other machines
        // use, stores full outcomes.
        let rules = AppRules(AppPolicy())
        var random = SeededRandom(seed: seed)
        var moment = Moment(now: Timestamp(milliseconds: 1_700_000_000_000), offset: 0)
        var packedWindow = MessageWindow(at: moment)
        var fullWindow = CallWindow(at: moment)
        for step in 0..<400 {
            moment.now = moment.now + Milliseconds(Int64.random(in: 0...900, using: &random))
            if step % 90 == 0 {
                // The partition stands still for 5 s, by which both windows live longer. The clock advances by 80 s or,
                // every second time, by 3 s. After 80 s the outcomes expire.
                let outcomesExpire = step % 180 != 0
                moment.standstill = moment.standstill + .seconds(5)
                moment.now = moment.now + .seconds(outcomesExpire ? 80 : 3)
                if packedWindow.due <= moment.now {
                    let (packedWindowEnded, fullWindowEnded) = (
                        packedWindow.expire(at: moment), fullWindow.expire(at: moment)
                    )
                    #expect(packedWindowEnded == fullWindowEnded)
                }
            }
            // The call's number is up to 25 below or 3 above the step: some numbers are repeated, and some are older
            // than the 16 outcomes of a window.
            let counter = Int64(step) + Int64.random(in: -25...3, using: &random)
            switch (packedWindow.lookup(counter), fullWindow.lookup(counter)) {
            case (.fresh, .fresh):
                let rejection = Rejection.allCases.randomElement(using: &random) ?? .none
                let hasPosition = Bool.random(using: &random)
                let outcome: MessageOutcome
                if rejection != .none {
                    outcome = MessageOutcome(rejected: rejection, retryAfter: Milliseconds(Int64(step % 3)))
                } else if hasPosition {
                    outcome = MessageOutcome(at: FeedPosition(epoch: 9, number: Int64(step)))
                } else {
                    outcome = .done
                }
                packedWindow.record(outcome, of: counter, at: moment)
                fullWindow.record(
                    .answered(outcome: outcome.outcome(under: rules), required: nil), of: counter, at: moment)
            case (.repeated(let outcome), .repeated(let expected)):
                #expect(expected == .answered(outcome: outcome.outcome(under: rules), required: nil))
            case (.forgotten, .forgotten): break
            case (let packed, let full): Issue.record("the windows differ: packed \(packed), full \(full)")
            }
            #expect(packedWindow.storage.expiresAt == fullWindow.storage.expiresAt)
            #expect(packedWindow.due == fullWindow.due)
            #expect(packedWindow.storage.count <= IdempotencyLimits.maxOutcomes)
            if step % 50 == 0 {
                // After a takeover the new owner decodes the window from its row.
                let data = try JSONEncoder().encode(packedWindow)
                #expect(data.count < 900, "expected 16 outcomes of five numbers in less than 900 bytes")
                let decoded = try JSONDecoder().decode(MessageWindow.self, from: data)
                #expect(decoded == packedWindow)
                packedWindow = decoded
            }
        }
    }

    @Test func `decoding a malformed window fails`() {
        // The stored name of the outcomes is `fates`. Each outcome has five numbers: call counter, epoch, item number,
        // rejection, retry hint.
        let incompleteOutcome = #"{"fates":[1,2,3],"expiresAt":0}"#
        let unknownRejection = #"{"fates":[1,1,1,99,0],"expiresAt":0}"#
        let negativeEpoch = #"{"fates":[1,-1,1,0,0],"expiresAt":0}"#
        for malformed in [incompleteOutcome, unknownRejection, negativeEpoch] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(MessageWindow.self, from: Data(malformed.utf8))
            }
        }
    }

    @Test func `rejections have the fixed numbers of stored rows and the codes of the protocol`() {
        let expected: [(number: Int64, code: ReplyCode)] = [
            (1, .noSuchRoom), (2, .notInRoom), (3, .staleTicket), (4, .roomMuted), (5, .badParameter),
            (6, .messageTooLong), (7, .droppedByBudget), (8, .droppedByBudget), (9, .userMuted), (10, .tooFrequent),
            (11, .sensitiveWords), (12, .giftsNotEnabled), (13, .noSuchGift), (14, .giftsOffInLive),
            (15, .badParameter), (16, .badParameter), (17, .badParameter), (18, .notOnSeat), (19, .badParameter),
            (20, .badParameter), (21, .sensitiveWords), (22, .giftCheckFailed),
        ]
        for (number, code) in expected { #expect(Rejection(rawValue: number)?.code == code) }
        #expect(Rejection.allCases.count == expected.count + 1, "`expected` must contain every rejection except `none`")
        let rules = AppRules(AppPolicy(messagesPerUserPerSecond: 7))
        #expect(Rejection.none.error(retryAfter: 0, under: rules) == nil)
        // Each error has a text and the retry hint. A text about a limit names the limit, such as 7 messages a second.
        for rejection in Rejection.allCases where rejection != .none {
            let error = rejection.error(retryAfter: 5, under: rules)
            #expect(error?.message.isEmpty == false && error?.retryAfter == 5)
        }
        #expect(Rejection.tooOften.error(retryAfter: 0, under: rules)?.message.contains("7") == true)
        #expect(Rejection.noBusinessID.error(retryAfter: 0, under: rules)?.message == "businessID is empty")
        #expect(Rejection.tooLong.error(retryAfter: 0, under: rules)?.message.contains("12288") == true)
        #expect(Rejection.giftCount.error(retryAfter: 0, under: rules)?.message.contains("1 to 255") == true)
    }
}
