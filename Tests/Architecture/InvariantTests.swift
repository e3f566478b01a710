// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Tests that each invariant of `docs/RULES.md` has a test, and that tests cite only invariants that exist.
@Suite struct InvariantTests {
    /// The numbers of the invariants, I1 to I17.
    private static let numbers = 1...17

    /// The tests by the number of the invariant that a word of their name cites, such as `I9`.
    private static let testsByInvariant: [Int: [String]] = {
        var found: [Int: [String]] = [:]
        for file in SourceTree.tests {
            for (_, text) in file.code where text.contains("func `") {
                guard let name = text.split(separator: "`").dropFirst().first else { continue }
                for word in name.split(separator: " ") where word.hasPrefix("I") {
                    guard let number = Int(word.dropFirst()) else { continue }
                    found[number, default: []].append("\(file.path): \(name)")
                }
            }
        }
        return found
    }()

    @Test(arguments: numbers) func `every invariant is cited by at least one test`(number: Int) {
        #expect(!Self.testsByInvariant[number, default: []].isEmpty, "I\(number) has no test")
    }

    @Test func `no test cites an invariant that does not exist`() {
        #expect(Self.testsByInvariant.keys.allSatisfy { Self.numbers.contains($0) })
    }
}
