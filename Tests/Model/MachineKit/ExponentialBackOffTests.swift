// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@Suite struct ExponentialBackOffTests {
    @Test func `each pause is twice as long as the one before, up to the longest pause, until a success`() {
        var backOff = ExponentialBackOff(firstPause: Milliseconds(50), longestPause: .seconds(1))
        let pauses = (0..<8).map { _ in backOff.nextPause().count }
        #expect(pauses == [50, 100, 200, 400, 800, 1000, 1000, 1000])
        backOff.reset()
        #expect(backOff.nextPause() == Milliseconds(50))
        #expect(backOff.nextPause() == Milliseconds(100))
    }

    @Test func `a pause as long as the longest is not shortened, and a first pause above the longest is`() {
        let backOff = ExponentialBackOff(firstPause: Milliseconds(100), longestPause: Milliseconds(800))
        #expect((-1...4).map { backOff.pause(afterEarlierFailures: $0).count } == [100, 100, 200, 400, 800, 800])
        let constantPause = ExponentialBackOff(firstPause: .seconds(5), longestPause: .seconds(1))
        #expect(constantPause.pause(afterEarlierFailures: 0) == .seconds(1))
    }

    @Test(arguments: [20, 62, 63, 64, 1000, .max])
    func `any number of failures leads to the longest pause, without an overflow`(failures: Int) {
        let backOff = ExponentialBackOff(firstPause: Milliseconds(100), longestPause: .seconds(5))
        #expect(backOff.pause(afterEarlierFailures: failures) == .seconds(5))
        let withoutPause = ExponentialBackOff(firstPause: Milliseconds(0), longestPause: .seconds(5))
        #expect(withoutPause.pause(afterEarlierFailures: failures) == Milliseconds(0))
    }
}
