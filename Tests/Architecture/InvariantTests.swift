// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Tests that each invariant of `docs/RULES.md` has a test, and that tests cite only invariants that exist.
@Suite struct InvariantTests {
    /// The numbers of the invariants: those of the rows of the table in `docs/RULES.md`.
    private static let numbers: [Int] =
        ((try? Repository.text("docs/RULES.md")) ?? "").split(separator: "\n").compactMap { line in
            line.hasPrefix("| I") ? Int(line.dropFirst(3).prefix { $0.isNumber }) : nil
        }

    @Test func `the table of invariants lists I1 to the last without a gap`() {
        #expect(Self.numbers.count >= 17)
        #expect(Self.numbers == Array(1...max(1, Self.numbers.count)))
    }

    /// The tests that cite an invariant, by its number.
    private static let testsByInvariant: [Int: [String]] = {
        var found: [Int: [String]] = [:]
        for file in SourceTree.tests {
            for (_, text) in file.code where text.contains("func `") {
                guard let name = text.split(separator: "`").dropFirst().first else { continue }
                for number in Self.citedNumbers(in: name) {
                    found[number, default: []].append("\(file.path): \(name)")
                }
            }
        }
        return found
    }()

    /// The numbers of the invariants that a test's name cites, by words such as `I9`.
    private static func citedNumbers(in name: some StringProtocol) -> [Int] {
        // Words end at blanks and at punctuation.
        name.split { !$0.isLetter && !$0.isNumber }.compactMap { $0.hasPrefix("I") ? Int($0.dropFirst()) : nil }
    }

    @Test func `a citation counts with and without punctuation, and another word does not`() {
        let names = ["I9 one", "I7 I15 two", "I9: three", "four (I9)", "five I9, I10.", "I am I9th, UI9", "I", "i9"]
        let numbers = [[9], [7, 15], [9], [9], [9, 10], [], [], []]
        #expect(names.map { Self.citedNumbers(in: $0) } == numbers)
    }

    @Test(arguments: numbers) func `every invariant is cited by at least one test`(number: Int) {
        #expect(!Self.testsByInvariant[number, default: []].isEmpty, "I\(number) has no test")
    }

    @Test func `no test cites an invariant that does not exist`() {
        #expect(Self.testsByInvariant.keys.allSatisfy { Self.numbers.contains($0) })
    }
}
