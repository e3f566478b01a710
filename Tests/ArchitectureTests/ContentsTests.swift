// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `docs/PROTOCOL.md` begins with a list of its sections.
@Suite struct ContentsTests {
    @Test func `the protocol's contents name every section, each with its number`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/PROTOCOL.md")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let contents = text.prefix(upTo: try #require(text.range(of: "\n## ")).lowerBound)
        let sections = text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(sections.count > 10)
        for section in sections {
            let parts = section.split(separator: ". ", maxSplits: 1)
            try #require(parts.count == 2, "\(section) has no number")
            #expect(contents.contains("\(parts[0]) [\(parts[1])](#\(parts[0])-"), "\(section)")
        }
    }
}
