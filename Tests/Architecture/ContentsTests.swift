// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Numbered pages begin with a list of their sections, and the sections are numbered without holes.
@Suite struct ContentsTests {
    // Each page with its least number of sections, so that the test fails if it reads only a part of the page.
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
        // The numbers of the present section and subsection.
        var (number, subnumber) = (0, 0)
        for section in page.sections {
            if section.number.contains(".") {
                subnumber += 1
                expected.append("\(number).\(subnumber)")
            } else {
                (number, subnumber) = (number + 1, 0)
                expected.append("\(number)")
            }
        }
        #expect(page.sections.map(\.number) == expected)
    }
}
