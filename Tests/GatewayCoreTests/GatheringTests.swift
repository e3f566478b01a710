// SPDX-License-Identifier: Apache-2.0
import CoreKit
import GatewayCore
import Testing

@Suite struct GatheringTests {
    private var gathering = Gathering<Int>(gap: Milliseconds(8), limit: 3)

    private static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    @Test mutating func `records that come a gap apart go at once`() {
        for number in 0..<5 { #expect(self.gathering.add(number, now: Self.at(Int64(number) * 8)) == .send) }
    }

    @Test mutating func `records that come closer wait for the end of the gap and go together, in order`() {
        #expect(self.gathering.add(1, now: Self.at(100)) == .send)
        #expect(self.gathering.add(2, now: Self.at(101)) == .begin)
        #expect(self.gathering.due == Self.at(108))
        #expect(self.gathering.add(3, now: Self.at(107)) == .wait)
        #expect(self.gathering.take(now: Self.at(108)) == [2, 3])
        #expect(self.gathering.due == Self.at(116))
        #expect(self.gathering.add(4, now: Self.at(110)) == .wait)
        #expect(self.gathering.take(now: Self.at(116)) == [4])
    }

    @Test mutating func `none overtakes those that wait, however late they are taken`() {
        #expect(self.gathering.add(1, now: Self.at(100)) == .send)
        #expect(self.gathering.add(2, now: Self.at(101)) == .begin)
        #expect(self.gathering.add(3, now: Self.at(500)) == .wait)
        #expect(self.gathering.take(now: Self.at(501)) == [2, 3])
    }

    @Test mutating func `when none came in a whole gap the wait is over, and the next one goes at once`() {
        #expect(self.gathering.add(1, now: Self.at(100)) == .send)
        #expect(self.gathering.add(2, now: Self.at(101)) == .begin)
        #expect(self.gathering.take(now: Self.at(108)) == [2])
        #expect(self.gathering.take(now: Self.at(116)).isEmpty)
        #expect(self.gathering.add(3, now: Self.at(117)) == .send)
        #expect(self.gathering.add(4, now: Self.at(118)) == .begin)
    }

    @Test mutating func `I16 beyond the limit none is taken, and room comes with the end of the gap`() {
        #expect(self.gathering.add(0, now: Self.at(100)) == .send)
        #expect((1...3).map { self.gathering.add($0, now: Self.at(101)) } == [.begin, .wait, .wait])
        #expect(self.gathering.add(4, now: Self.at(102)) == .full)
        #expect(self.gathering.take(now: Self.at(108)) == [1, 2, 3])
        #expect(self.gathering.add(5, now: Self.at(109)) == .wait)
    }
}
