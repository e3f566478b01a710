// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ChaosKit

/// Tests of the search for the smallest part of a list that still shows a failure.
///
/// The closure of `minimize` tests whether a part shows the failure; `maxTests` limits how often it is called.
struct DeltaDebuggingTests {
    @Test(arguments: [[], [0], [999], [0, 999], [499, 500], [3, 141, 592, 653]])
    func `of a thousand entries only those that the failure needs stay, in order`(needed: [Int]) {
        var testCount = 0
        let (result, isShortest) = DeltaDebugging.minimize(Array(0..<1000), maxTests: 1000) { part in
            testCount += 1
            return Set(part).isSuperset(of: needed)
        }
        #expect(result == needed)
        #expect(isShortest)
        #expect(testCount < 200, "the search must not test each of the thousand entries alone")
    }

    @Test func `no single entry can be removed from the result`() {
        // A part shows the failure if it has an even number of entries that are 10 or more, and at least four of them.
        func showsFailure(_ part: [Int]) -> Bool {
            let count = part.count { $0 >= 10 }
            return count >= 4 && count.isMultiple(of: 2)
        }
        let (result, isShortest) = DeltaDebugging.minimize(Array(0..<60), maxTests: 10_000, showsFailure: showsFailure)
        #expect(showsFailure(result) && isShortest)
        for index in result.indices {
            var shorter = result
            shorter.remove(at: index)
            #expect(!showsFailure(shorter))
        }
    }

    @Test func `the search ends at its limit, with a result that shows the failure`() {
        var testCount = 0
        let (result, isShortest) = DeltaDebugging.minimize(Array(0..<1000), maxTests: 5) { part in
            testCount += 1
            return part.contains(7)
        }
        #expect(testCount == 5)
        #expect(!isShortest)
        #expect(result.contains(7) && result.count < 1000)
    }
}
