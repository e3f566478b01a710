// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `docs/COVERAGE.md` says for each rule of the stores which test shows it; it may name none that does not exist.
@Suite struct CoverageTests {
    private struct Row {
        let line: Int
        let section: String
        let what: String
        /// One test, or several with semicolons between; a dash for none.
        let test: String
        let how: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The rows of the tables; a bar within a cell is written `\|`.
    private static func rows() throws -> [Row] {
        let bytes = try Data(contentsOf: Self.root.appending(path: "docs/COVERAGE.md"))
        var rows: [Row] = []
        for (index, line) in String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() where line.hasPrefix("| ") && !line.hasPrefix("| section") && !line.hasPrefix("| ---") {
            let text = line.replacing("\\|", with: "\u{1}")
            let cells = text.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.replacing("\u{1}", with: "|").trimmed }
            try #require(cells.count == 5, "line \(index + 1) has \(cells.count) cells")
            rows.append(Row(line: index + 1, section: cells[0], what: cells[1], test: cells[3], how: cells[4]))
        }
        return rows
    }

    /// `Target/sentence` of every test.
    private static func tests() throws -> Set<String> {
        var names: Set<String> = []
        let folder = Self.root.appending(path: "Tests")
        let paths = FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? []
        for path in paths where path.hasSuffix(".swift") {
            guard let target = path.split(separator: "/").first else { continue }
            let code = String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
            for piece in code.split(separator: "func `").dropFirst() {
                if let end = piece.firstIndex(of: "`") { names.insert("\(target)/\(piece[..<end])") }
            }
        }
        return names
    }

    @Test func `every row of the coverage names tests that exist, or says why there is none`() throws {
        let tests = try Self.tests()
        let rows = try Self.rows()
        #expect(rows.count > 200)
        for row in rows {
            #expect(!row.what.isEmpty && !row.how.isEmpty, "line \(row.line) says too little")
            // A sentence may have a semicolon of its own.
            let isNamed =
                row.test == "–" || tests.contains(row.test)
                || row.test.split(separator: ";").allSatisfy { tests.contains($0.trimmed) }
            #expect(isNamed, "line \(row.line): no test \(row.test)")
            // What is as described can be shown.
            let isReason = row.test != "–" || !row.how.hasPrefix("as described")
            #expect(isReason, "line \(row.line): neither a test nor a reason why there is none")
        }
    }

    @Test func `every method, event, call and code of the reference has a row of the coverage`() throws {
        let named = try Self.rows().map { row in
            Set(row.what.split { !($0.isLetter || $0.isNumber || "_−-".contains($0)) }.map(String.init))
        }
        for name in CoverageNames.methods + CoverageNames.events + CoverageNames.serverCalls + CoverageNames.codes {
            #expect(named.contains { $0.contains(name) }, "no row is about \(name)")
        }
    }

    @Test func `the coverage has rows for every section of the reference that a server carries`() throws {
        let sections = Set(try Self.rows().map { String($0.section.prefix { $0 != "." }) })
        for section in Array(1...12) + Array(16...20) {
            #expect(sections.contains("\(section)"), "nothing covers section \(section)")
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
