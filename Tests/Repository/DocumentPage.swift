// SPDX-License-Identifier: Apache-2.0

/// A page of `docs/` with numbered sections, for tests that read tables and follow citations.
package struct DocumentPage: Sendable {
    /// One section: `## 4. Calls` or `### 4.1 Ids and retries`.
    package struct Section: Sendable {
        /// The section's number, such as `4` or `4.1`.
        package let number: String
        package let title: String
        /// The lines below the heading, including those of its subsections.
        package let lines: [String]
    }

    /// The names of all pages of `docs/` with numbered sections.
    package static let names = [
        "PROTOCOL", "HTTP-API", "WEBHOOKS", "SETTINGS", "DEPLOYING", "OPERATING", "TOPICS", "TESTING",
    ]

    /// The page's name, such as `PROTOCOL`.
    package let name: String
    package let lines: [String]
    /// The headings whose number is missing or malformed.
    package let unnumberedHeadings: [String]
    package let sections: [Section]

    /// Reads `docs/<name>.md`.
    ///
    /// - Throws: Foundation's error if the file cannot be read.
    package init(_ name: String) throws {
        self.name = name
        self.lines = try Repository.text("docs/\(name).md").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        var sections: [Section] = []
        var unnumberedHeadings: [String] = []
        let headings = Self.headings(of: self.lines)
        for (index, heading) in headings.enumerated() where heading.level > 1 {
            let end = headings[(index + 1)...].first { $0.level <= heading.level }?.line ?? self.lines.count
            let words = heading.text.split(separator: " ", maxSplits: 1)
            var number = words.first.map(String.init) ?? ""
            // The number of a section ends with a point (`4.`), and that of a subsection does not (`4.1`).
            if heading.level == 2, number.hasSuffix(".") { number.removeLast() }
            let parts = number.split(separator: ".", omittingEmptySubsequences: false)
            guard words.count == 2, parts.count == heading.level - 1, parts.allSatisfy({ Int($0) != nil }) else {
                unnumberedHeadings.append(heading.text)
                continue
            }
            sections.append(
                Section(
                    number: number, title: String(words[1]), lines: Array(self.lines[(heading.line + 1)..<end])))
        }
        self.sections = sections
        self.unnumberedHeadings = unnumberedHeadings
    }

    /// The lines of the section with this title; empty if there is none.
    package func lines(under title: String) -> [String] { self.sections.first { $0.title == title }?.lines ?? [] }

    /// The headings of a Markdown text; lines in code blocks that look like headings are ignored.
    package static func headings(of lines: [String]) -> [(level: Int, text: String, line: Int)] {
        var isInCodeBlock = false
        var headings: [(level: Int, text: String, line: Int)] = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") { isInCodeBlock.toggle() }
            let level = line.prefix { $0 == "#" }.count
            guard !isInCodeBlock, level > 0, line.dropFirst(level).first == " " else { continue }
            headings.append((level, String(line.dropFirst(level + 1)), index))
        }
        return headings
    }

    /// The anchor that GitHub gives to a heading.
    package static func anchor(of heading: String) -> String {
        var anchor = ""
        for character in heading.lowercased() {
            if character.isLetter || character.isNumber || character == "-" || character == "_" {
                anchor.append(character)
            } else if character == " " {
                anchor.append("-")
            }
        }
        return anchor
    }
}
