// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import Testing

extension RingBuffer {
    /// The newest element.
    fileprivate var last: Element? { self.count == 0 ? nil : self[self.count - 1] }
}

/// The ring buffer, the random generator that tests seed, and times.
@Suite struct ContainerTests {
    @Test func `a ring returns the oldest element first, and rejects elements beyond its limit`() {
        var ring = RingBuffer<Int>(limit: 3)
        #expect(ring.count == 0 && ring.first == nil && ring.last == nil)
        let areAccepted = (1...4).map { ring.append($0) }
        #expect(areAccepted == [true, true, true, false])
        #expect(ring.first == 1 && ring.last == 3 && ring.count == 3)
        let oldest = ring.popFirst()
        #expect(oldest == 1)
        let isAccepted = ring.append(5)
        #expect(isAccepted)
        #expect((0..<3).map { ring[$0] } == [2, 3, 5])
        let popped = (0..<4).map { _ in ring.popFirst() }
        #expect(popped == [2, 3, 5, nil])
    }

    @Test(arguments: 1...10) func `a ring that appends and removes at random agrees with an array`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limit = Int.random(in: 1...40, using: &random)
        var ring = RingBuffer<Int>(limit: limit)
        var expected: [Int] = []
        for value in 0..<2000 {
            // Each step appends with a probability of three in five, so that the ring is often full.
            if Int.random(in: 0..<5, using: &random) < 3 {
                let isAccepted = ring.append(value)
                #expect(isAccepted == (expected.count < limit))
                if isAccepted { expected.append(value) }
            } else {
                let oldest = ring.popFirst()
                #expect(oldest == (expected.isEmpty ? nil : expected.removeFirst()))
            }
            #expect(ring.count == expected.count && ring.first == expected.first && ring.last == expected.last)
            #expect((0..<ring.count).map { ring[$0] } == expected)
        }
    }

    @Test func `the random generator returns the published outputs of SplitMix64`() {
        var seededWith0 = SeededRandom(seed: 0)
        let numbersOf0 = (0..<3).map { _ in seededWith0.next() }
        #expect(numbersOf0 == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F])
        var seededWith1234567 = SeededRandom(seed: 1_234_567)
        let numbersOf1234567 = (0..<3).map { _ in seededWith1234567.next() }
        #expect(numbersOf1234567 == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test func `times are whole milliseconds, even in JSON`() throws {
        let time = Timestamp(milliseconds: 1_999)
        #expect(time.seconds == 1)
        #expect(time + .seconds(2) == Timestamp(milliseconds: 3_999))
        #expect(time - Milliseconds(999) == Timestamp(milliseconds: 1_000))
        #expect((time + .seconds(2)) - time == Milliseconds(2_000))
        #expect(Timestamp.distantPast < time && time < .distantFuture)
        // A subtraction from `distantPast` and an addition to `distantFuture` do not trap.
        #expect(Timestamp.distantPast - .seconds(1) < Timestamp.distantFuture + .seconds(1))
        let data = try JSONEncoder().encode([time])
        #expect(String(decoding: data, as: UTF8.self) == "[1999]")
        #expect(try JSONDecoder().decode([Timestamp].self, from: data) == [time])
    }
}
