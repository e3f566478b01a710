// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that the capacity plan calculates with measured figures, and that its calculations are correct.
@Suite struct CapacityTests {
    /// The calculations of a page: the lines of its code blocks that contain an equals sign.
    private static func calculations(in page: String) -> [String] {
        var isInCodeBlock = false
        return page.split(separator: "\n").filter { line in
            if line.hasPrefix("```") { isInCodeBlock.toggle() }
            return isInCodeBlock && line.contains(" = ")
        }.map(String.init)
    }

    /// The value of a term of numbers, units, `×` and `÷`, calculated from left to right; nil if it contains no number.
    static func value(of term: String) -> Double? {
        var result: Double?
        var operation: Character = "×"
        for word in term.split(separator: " ") {
            if word == "×" || word == "÷" {
                operation = word.first ?? "×"
            } else if let number = Double(word.replacing(",", with: "")) {
                guard let previous = result else {
                    result = number
                    continue
                }
                result = operation == "×" ? previous * number : previous / number
            }
        }
        return result
    }

    /// The number directly after the equals sign; nil if there is none.
    private static func writtenResult(of line: String) -> Double? {
        let words = line.split(separator: " ").map { $0.replacing(",", with: "") }
        guard let equals = words.firstIndex(of: "="), equals + 1 < words.count else { return nil }
        return Double(words[equals + 1])
    }

    @Test func `a term is calculated from left to right, whatever its units are`() {
        #expect(Self.value(of: "16 cores × 1,000 ÷ 8 µs") == 2000)
        #expect(Self.value(of: "no number") == nil)
    }

    @Test func `each calculation of the capacity plan is right to within one percent`() throws {
        let calculations = Self.calculations(in: try Repository.text("docs/CAPACITY.md"))
        #expect(calculations.count >= 25, "most calculations were not recognized")
        for line in calculations {
            let term = String(line.prefix(upTo: line.firstRange(of: " = ")?.lowerBound ?? line.endIndex))
            let calculated = try #require(Self.value(of: term), "\(line)")
            let written = try #require(Self.writtenResult(of: line), "\(line)")
            #expect(abs(calculated - written) <= 0.01 * abs(calculated), "\(line): the term gives \(calculated)")
        }
    }

    @Test func `each figure in the table of the capacity plan is quoted from the measurements`() throws {
        let page = try Repository.text("docs/CAPACITY.md")
        let measurements = try Repository.text("docs/PERFORMANCE.md")
        // Each of the six rows ends with a quotation from the measurements, in backquotes.
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.hasSuffix("` |") }
        #expect(rows.count == 6)
        for row in rows {
            // In a table's cell, the character `|` is written as `\|`.
            let quoted = try #require(row.split(separator: "`").dropFirst().first, "\(row)").replacing(
                #"\|"#, with: "|")
            #expect(measurements.contains(quoted), "\(quoted) is not in PERFORMANCE.md")
        }
    }
}
