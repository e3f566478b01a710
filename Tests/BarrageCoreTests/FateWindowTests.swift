// SPDX-License-Identifier: Apache-2.0
import CoreKit
import FoundationEssentials
import PlazaModel
import Testing

@testable import BarrageCore

@Suite struct FateWindowTests {
    @Test(arguments: 1...10) func `I15 the short window knows what an outcome window would know`(seed: UInt64) throws {
        let rules = AppRules(AppPolicy())
        var random = SeededRandom(seed: seed)
        var now = Timestamp(milliseconds: 1_700_000_000_000)
        var short = FateWindow(at: now)
        var long = OutcomeWindow(at: now)
        for step in 0..<400 {
            now = now + Milliseconds(Int64.random(in: 0...900, using: &random))
            let counter = Int64(step) + Int64.random(in: -25...3, using: &random)
            switch (short.verdict(on: counter), long.verdict(on: counter)) {
            case (.fresh, .fresh):
                let refusal = Refusal.allCases.randomElement(using: &random) ?? .none
                let isDone = Bool.random(using: &random)
                let fate =
                    refusal == .none
                    ? isDone ? Fate(done: counter) : Fate(counter, at: FeedPosition(epoch: 9, number: Int64(step)))
                    : Fate(counter, refused: refusal, retryAfter: Milliseconds(Int64(step % 3)))
                short.record(fate, at: now)
                long.record(counter, .answered(outcome: fate.outcome(under: rules), seen: nil), at: now)
            case (.repeated(let fate), .repeated(let entry)):
                #expect(entry == .answered(outcome: fate.outcome(under: rules), seen: nil))
            case (.forgotten, .forgotten): break
            case (let a, let b): Issue.record("\(a) is not \(b)")
            }
            #expect(short.expiresAt == long.expiresAt)
            #expect(short.due == long.due)
            #expect(short.fates.count <= OutcomeWindow.limit)
            if step % 50 == 0 {
                let data = try JSONEncoder().encode(short)
                #expect(data.count < 900)
                let back = try JSONDecoder().decode(FateWindow.self, from: data)
                #expect(back == short)
                short = back
            }
        }
    }

    @Test func `what is no window is not read as one`() {
        for broken in [
            #"{"fates":[1,2,3],"expiresAt":0}"#, #"{"fates":[1,1,1,99,0],"expiresAt":0}"#,
            #"{"fates":[1,-1,1,0,0],"expiresAt":0}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(FateWindow.self, from: Data(broken.utf8))
            }
        }
    }

    @Test func `refusals have numbers that never change, and codes of the protocol`() {
        let expected: [(Int64, ReplyCode)] = [
            (1, .noSuchRoom), (2, .notInRoom), (3, .staleTicket), (4, .roomMuted), (5, .badParameter),
            (6, .messageTooLong), (7, .droppedByBudget), (8, .droppedByBudget), (9, .userMuted), (10, .tooFrequent),
            (11, .sensitiveWords), (12, .giftsNotEnabled), (13, .noSuchGift), (14, .giftsOffInLive),
            (15, .badParameter), (16, .badParameter), (17, .badParameter), (18, .notOnSeat), (19, .badParameter),
            (20, .badParameter), (21, .sensitiveWords), (22, .giftCheckFailed),
        ]
        for (number, code) in expected { #expect(Refusal(rawValue: number)?.code == code) }
        #expect(Refusal.allCases.count == expected.count + 1)
        let rules = AppRules(AppPolicy(messagesPerUserPerSecond: 7))
        #expect(Refusal.none.error(retryAfter: 0, under: rules) == nil)
        // Each message names what was wrong, and the limit where there is one.
        for refusal in Refusal.allCases where refusal != .none {
            let error = refusal.error(retryAfter: 5, under: rules)
            #expect(error?.message.isEmpty == false && error?.retryAfter == 5)
        }
        #expect(Refusal.tooOften.error(retryAfter: 0, under: rules)?.message.contains("7") == true)
        #expect(Refusal.noBusinessID.error(retryAfter: 0, under: rules)?.message == "businessID is empty")
        #expect(Refusal.tooLong.error(retryAfter: 0, under: rules)?.message.contains("12288") == true)
        #expect(Refusal.giftCount.error(retryAfter: 0, under: rules)?.message.contains("1 to 255") == true)
    }
}
