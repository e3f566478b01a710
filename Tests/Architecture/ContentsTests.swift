// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Tests that numbered pages begin with a list of their sections, and that section numbers have no gaps.
@Suite struct ContentsTests {
    // Each page with the minimum number of its sections: with fewer, the test has read only a part of the page.
    @Test(arguments: [
        ("PROTOCOL", 15), ("HTTP-API", 7), ("WEBHOOKS", 7), ("SETTINGS", 6), ("DEPLOYING", 3), ("OPERATING", 8),
        ("TOPICS", 7), ("TESTING", 6),
    ])
    func `the list of sections of a page names every section with its number`(name: String, minCount: Int) throws {
        let page = try DocumentPage(name)
        let firstHeading = try #require(page.lines.firstIndex { $0.hasPrefix("## ") })
        let contents = page.lines[..<firstHeading].joined(separator: "\n")
        let sections = page.sections.filter { !$0.number.contains(".") }
        #expect(sections.count >= minCount, "sections of \(name) were not recognized")
        // The list must have an entry for each section.
        for section in sections {
            let anchor = DocumentPage.anchor(of: "\(section.number). \(section.title)")
            #expect(contents.contains("\(section.number) [\(section.title)](#\(anchor))"), "\(section.title)")
        }
    }

    @Test(arguments: DocumentPage.names)
    func `the sections of a page are numbered from one, without gaps`(name: String) throws {
        let page = try DocumentPage(name)
        #expect(page.unnumberedHeadings.isEmpty)
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
