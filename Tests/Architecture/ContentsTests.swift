// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Numbered pages begin with a list of their sections, and their numbers count up.
@Suite struct ContentsTests {
    // Each page with the number of its sections at least, so that a page of which less is read fails.
    @Test(arguments: [
        ("PROTOCOL", 15), ("HTTP-API", 7), ("WEBHOOKS", 7), ("OPERATING", 8), ("TOPICS", 7), ("TESTING", 6),
    ])
    func `a page's contents name every section, each with its number`(name: String, minCount: Int) throws {
        let page = try DocumentPage(name)
        let firstHeading = try #require(page.lines.firstIndex { $0.hasPrefix("## ") })
        let contents = page.lines[..<firstHeading].joined(separator: "\n")
        let sections = page.sections.filter { !$0.number.contains(".") }
        #expect(sections.count >= minCount)
        for section in sections {
            let anchor = DocumentPage.anchor(of: "\(section.number). \(section.title)")
            #expect(contents.contains("\(section.number) [\(section.title)](#\(anchor))"), "\(section.title)")
        }
    }

    @Test(arguments: DocumentPage.names)
    func `a page's sections are numbered from one, without holes`(name: String) throws {
        let page = try DocumentPage(name)
        #expect(page.unnumbered.isEmpty)
        var expected: [String] = []
        var (chapter, part) = (0, 0)
        for section in page.sections {
            if section.number.contains(".") {
                part += 1
                expected.append("\(chapter).\(part)")
            } else {
                (chapter, part) = (chapter + 1, 0)
                expected.append("\(chapter)")
            }
        }
        #expect(page.sections.map(\.number) == expected)
    }
}
