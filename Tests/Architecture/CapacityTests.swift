// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// The capacity plan is calculated from measured figures, and calculated correctly.
@Suite struct CapacityTests {
    /// The lines of a page's code blocks that have an equals sign.
    private static func sums(in page: String) -> [String] {
        var isCode = false
        return page.split(separator: "\n").filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return isCode && line.contains(" = ")
        }.map(String.init)
    }

    /// The value of numbers with units between `×` and `÷`, from left to right; nil if a part is no number.
    static func value(of term: String) -> Double? {
        var result: Double?
        var operation: Character = "×"
        for part in term.split(separator: " ") {
            if part == "×" || part == "÷" {
                operation = part.first ?? "×"
            } else if let number = Double(part.replacing(",", with: "")) {
                guard let soFar = result else {
                    result = number
                    continue
                }
                result = operation == "×" ? soFar * number : soFar / number
            }
        }
        return result
    }

    /// The number behind the equals sign.
    private static func result(of sum: String) -> Double? {
        let words = sum.split(separator: " ").map { $0.replacing(",", with: "") }
        guard let equals = words.firstIndex(of: "="), equals + 1 < words.count else { return nil }
        return Double(words[equals + 1])
    }

    @Test func `a term is calculated from left to right, whatever its units are`() {
        #expect(Self.value(of: "16 cores × 1,000 ÷ 8 µs") == 2000)
        #expect(Self.value(of: "no number") == nil)
    }

    @Test func `each sum of the capacity plan is right to three digits`() throws {
        let sums = Self.sums(in: try Repository.text("docs/CAPACITY.md"))
        #expect(sums.count >= 25)
        for sum in sums {
            let term = String(sum.prefix(upTo: sum.firstRange(of: " = ")?.lowerBound ?? sum.endIndex))
            let calculated = try #require(Self.value(of: term), "\(sum)")
            let written = try #require(Self.result(of: sum), "\(sum)")
            #expect(abs(calculated - written) <= 0.01 * abs(calculated), "\(sum): it is \(calculated)")
        }
    }

    @Test func `each figure that the capacity plan begins with stands in the measurements`() throws {
        let page = try Repository.text("docs/CAPACITY.md")
        let measurements = try Repository.text("docs/PERFORMANCE.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.hasSuffix("` |") }
        #expect(rows.count == 6)
        for row in rows {
            // A bar within a table's cell is written with a backslash.
            let quoted = try #require(row.split(separator: "`").dropFirst().first, "\(row)").replacing(
                #"\|"#, with: "|")
            #expect(measurements.contains(quoted), "\(quoted) is not in PERFORMANCE.md")
        }
    }
}
