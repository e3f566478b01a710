// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that citations such as "PROTOCOL.md, section 4.1" and links between pages lead to existing places.
@Suite struct CitationTests {
    /// The numbers of the sections, by the name of their page; only pages with numbered sections have an entry.
    private static func sectionNumbers() throws -> [String: Set<String>] {
        var numbers: [String: Set<String>] = [:]
        for name in DocumentPage.names { numbers[name] = Set(try DocumentPage(name).sections.map(\.number)) }
        return numbers
    }

    /// The sections that a line cites, each with its page.
    ///
    /// A citation without a page's name, such as "section 7", means `page`, and is ignored if `page` is nil.
    private static func citations(in line: String, on page: String? = nil) throws -> [(page: String, section: String)] {
        let names = DocumentPage.names
        guard names.contains(where: { line.contains($0) }) || page != nil && line.contains("section ") else {
            return []
        }
        let name = "(\(names.joined(separator: "|")))(?:\\.md`?)?,? (?:section )?"
        // The first group is the name of the page, if there is one; the second is the number of the section.
        let citation = try Regex("(?:\(name)|section )([0-9]+(?:\\.[0-9]+)?)")
        return line.matches(of: citation).compactMap { match in
            guard let section = match.output[2].substring,
                let citedPage = match.output[1].substring.map(String.init) ?? page
            else { return nil }
            return (citedPage, String(section))
        }
    }

    @Test func `a citation is found in each of its forms`() throws {
        /// The citations in a line, each as the page's name and the section's number.
        func cited(_ line: String, on page: String? = nil) throws -> [String] {
            try Self.citations(in: line, on: page).map { "\($0.page) \($0.section)" }
        }
        #expect(try cited("/// See (PROTOCOL.md, section 4.1).") == ["PROTOCOL 4.1"])
        #expect(try cited("PROTOCOL.md 7 and HTTP-API.md, section 3") == ["PROTOCOL 7", "HTTP-API 3"])
        #expect(try cited("as PROTOCOL 4.1 and `WEBHOOKS.md`, section 2 say") == ["PROTOCOL 4.1", "WEBHOOKS 2"])
        #expect(try cited("RFC 6455, section 5.2").isEmpty)
        #expect(try cited("waits 10 s (section 7)", on: "PROTOCOL") == ["PROTOCOL 7"])
    }

    @Test func `every section that a source or a test cites exists`() throws {
        let numbers = try Self.sectionNumbers()
        var count = 0
        for file in SourceTree.sources + SourceTree.tests where !file.path.hasSuffix("/CitationTests.swift") {
            for (index, line) in file.lines.enumerated() {
                let cited = try Self.citations(in: line)
                count += cited.count
                for (page, section) in cited {
                    #expect(
                        numbers[page]?.contains(section) == true,
                        "\(file.path):\(index + 1) cites \(page) \(section), which does not exist")
                }
                // The path of a page is not a citation. Any other mention of these pages must name a section.
                let lineWithoutPath = line.replacing("docs/PROTOCOL.md", with: "")
                for name in ["PROTOCOL.md", "HTTP-API.md", "WEBHOOKS.md"] where lineWithoutPath.contains(name) {
                    #expect(!cited.isEmpty, "\(file.path):\(index + 1) cites \(name) without a section")
                }
            }
        }
        #expect(count > 15, "most citations were not recognized")
    }

    @Test func `every section that a page cites exists`() throws {
        let numbers = try Self.sectionNumbers()
        for (path, lines) in try Self.pages() {
            let name = path.split(separator: "/").last.map { String($0.dropLast(".md".count)) } ?? ""
            // Only on a page with numbered sections does "section 4" alone mean a section of the same page.
            let numberedPage = DocumentPage.names.contains(name) ? name : nil
            for (index, line) in lines.enumerated() {
                for (page, section) in try Self.citations(in: line, on: numberedPage) {
                    #expect(
                        numbers[page]?.contains(section) == true,
                        "\(path):\(index + 1) cites \(page) \(section), which does not exist")
                }
            }
        }
    }

    @Test func `every link between pages leads to an existing file and heading`() throws {
        // The first group is the path of the file, the second the anchor of the heading.
        let link = try Regex("\\]\\(([^)#: ]*)(?:#([^) ]*))?\\)")
        var count = 0
        for (path, lines) in try Self.pages() {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            for (index, line) in lines.enumerated() where line.contains("](") {
                for match in line.matches(of: link) {
                    let target = match.output[1].substring.map(String.init) ?? ""
                    // A link without a file leads to a heading of its own page.
                    let targetPath = folder.isEmpty ? target : "\(folder)/\(target)"
                    let file = target.isEmpty ? path : targetPath
                    count += 1
                    guard FileManager.default.fileExists(atPath: Repository.root.appending(path: file).path) else {
                        Issue.record("\(path):\(index + 1) leads to no file: \(target)")
                        continue
                    }
                    guard let anchor = match.output[2].substring else { continue }
                    let headings = DocumentPage.headings(of: try Self.lines(file))
                    #expect(
                        headings.contains { DocumentPage.anchor(of: $0.text) == anchor },
                        "\(path):\(index + 1) leads to no heading: \(file)#\(anchor)")
                }
            }
        }
        #expect(count > 30, "most links were not recognized")
    }

    private static func lines(_ path: String) throws -> [String] {
        try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The Markdown pages, with their paths.
    private static func pages() throws -> [(path: String, lines: [String])] {
        var paths = ["README.md", "CONTRIBUTING.md"]
        for folder in ["docs", "docs/decisions"] {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: folder).path)
            paths += names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
        }
        return try paths.map { ($0, try Self.lines($0)) }
    }
}
