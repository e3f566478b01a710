// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that `docs/RULES.md` is complete, and that tests and comments cite its rules correctly.
@Suite struct RuleTests {
    /// One row of the rules' tables.
    private struct Rule {
        let number: String
        let text: String
        /// The files whose code decides; `client` for a rule of the SDKs; a dash for a rule that no test can show.
        let decidedIn: String
        /// Where LivePlaza differs from systems of its family, or why no test can show the rule; may be empty.
        let difference: String

        var isOfClient: Bool { self.decidedIn == "client" }
        var isOfServer: Bool { !self.isOfClient && self.decidedIn != "–" }
    }

    private static func rules() throws -> [Rule] {
        var rules: [Rule] = []
        for line in try Repository.text("docs/RULES.md").split(separator: "\n") where line.hasPrefix("| R") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 4, "\(line) has \(cells.count) cells")
            rules.append(Rule(number: cells[0], text: cells[1], decidedIn: cells[2], difference: cells[3]))
        }
        return rules
    }

    /// The rule numbers in a text: an R with digits, a point and digits.
    private static func citations(in text: some StringProtocol) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") }.compactMap { word in
            let parts = word.split(separator: ".")
            guard parts.count == 2, let section = parts.first, section.first == "R", section.count > 1,
                section.dropFirst().allSatisfy(\.isNumber), parts[1].allSatisfy(\.isNumber)
            else { return nil }
            return "\(section).\(parts[1])"
        }
    }

    /// The documents, each with its path.
    private static func documents() throws -> [(path: String, text: String)] {
        let folders = ["docs", "docs/decisions"]
        let pages = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: folder).path)
                .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        return try (pages + ["README.md"]).map { ($0, try Repository.text($0)) }
    }

    @Test func `each rule has a unique number and a text`() throws {
        let rules = try Self.rules()
        #expect(rules.count > 200, "most rows of the tables were not recognized")
        #expect(Set(rules.map(\.number)).count == rules.count, "no two rules may have the same number")
        for rule in rules {
            #expect(Self.citations(in: rule.number) == [rule.number])
            #expect(!rule.text.isEmpty && !rule.decidedIn.isEmpty, "\(rule.number)")
            #expect(rule.decidedIn != "–" || !rule.difference.isEmpty, "\(rule.number) must say why no test shows it")
        }
    }

    /// This file is not searched, because it contains texts that only look like citations.
    private static let thisFile = "Tests/Architecture/RuleTests.swift"

    /// The comments such as `Rules: R3.1, R3.2` above a test: where each begins, the rules, and the line after it.
    ///
    /// Further lines of such a comment begin with `/// R`.
    private static let ruleLists: [(location: String, cited: [String], lineAfter: String)] = SourceTree.tests.filter {
        $0.path != Self.thisFile
    }.flatMap { file in
        file.lines.indices.filter { file.lines[$0].contains("/// Rules: ") }.map { start in
            let continuation = file.lines[(start + 1)...].prefix { $0.drop { $0 == " " }.hasPrefix("/// R") }
            let text = file.lines[start...(start + continuation.count)].joined(separator: " ")
            let next = start + continuation.count + 1
            return (
                "\(file.path):\(start + 1)", Self.citations(in: text),
                next < file.lines.count ? file.lines[next] : ""
            )
        }
    }

    @Test func `each rule of a server is cited by a test`() throws {
        let cited = Set(Self.ruleLists.flatMap(\.cited))
        for rule in try Self.rules() where rule.isOfServer {
            let isCited = cited.contains(rule.number)
            #expect(isCited, "no test cites \(rule.number): \(rule.text)")
        }
    }

    /// The rules about codes that no SDK returns: no test can show these rules.
    private static let rulesOfUnusedCodes = ["R16.2", "R16.6"]

    @Test func `each rule of a client is cited by a conformance case or by a test`() throws {
        struct CaseFile: Decodable { var rules: [String] }
        let folder = "clients/conformance"
        let names = try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: folder).path)
        // The files of cases; the two others hold steps that cases begin with, and sessions on a real server.
        let files = try names.filter { $0.hasSuffix(".json") && !["sessions.json", "setups.json"].contains($0) }
            .map { try JSONDecoder().decode(CaseFile.self, from: Repository.data("\(folder)/\($0)")) }
        let cited = Set(files.flatMap(\.rules) + Self.ruleLists.flatMap(\.cited))
        for rule in try Self.rules() where rule.isOfClient {
            let isCited = cited.contains(rule.number)
            // A rule about unused codes must not be cited. Every other rule must be.
            #expect(isCited != Self.rulesOfUnusedCodes.contains(rule.number), "\(rule.number): \(rule.text)")
        }
    }

    @Test func `each list of rules is directly above a test and names a rule`() {
        for list in Self.ruleLists {
            #expect(list.lineAfter.contains("@Test") && !list.cited.isEmpty, "\(list.location)")
        }
    }

    @Test func `each cited rule exists`() throws {
        let numbers = Set(try Self.rules().map(\.number))
        let files = (SourceTree.sources + SourceTree.tests).filter { $0.path != Self.thisFile }
            .map { ($0.path, $0.lines.joined(separator: "\n")) }
        for (path, text) in try files + Self.documents() {
            for number in Self.citations(in: text) {
                let isRule = numbers.contains(number)
                #expect(isRule, "\(path) cites \(number), which is no rule")
            }
        }
    }

    @Test func `nothing cites a document outside the repository`() throws {
        let files = (SourceTree.sources + SourceTree.tests).filter { $0.path != Self.thisFile }
            .map { ($0.path, $0.lines.joined(separator: "\n")) }
        for (path, text) in try files + Self.documents() {
            // Words by which earlier texts cited documents outside the repository.
            for words in ["(reference 1", "(reference 2", "reference, section", "COVERAGE.md"] {
                let citesDocument = text.contains(words)
                #expect(!citesDocument, "\(path) cites a document by \(words)")
            }
        }
    }

    @Test func `each file that decides a rule exists`() throws {
        let folder = Repository.root.appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let names = Set(
            paths.compactMap { path in
                let name = path.split(separator: "/").last.map(String.init) ?? path
                return name.hasSuffix(".swift") ? String(name.dropLast(".swift".count)) : name
            })
        #expect(names.count > 300, "most source files were not found")
        for rule in try Self.rules() where rule.isOfServer {
            for name in rule.decidedIn.split(separator: ",") {
                let file = name.filter { $0 != "`" && $0 != " " }
                let exists = names.contains(file)
                #expect(exists, "\(rule.number) names the file \(file), which does not exist")
            }
        }
    }

    @Test func `each method, event, server call and code is named in a rule`() throws {
        let words = try Self.rules().reduce(into: Set<String>()) { words, rule in
            for text in [rule.text, rule.difference] {
                words.formUnion(
                    text.split { !($0.isLetter || $0.isNumber || "_−-".contains($0)) }.map(String.init))
            }
        }
        for name in RuleNames.methods + RuleNames.events + RuleNames.serverCalls + RuleNames.codes {
            let isNamed = words.contains(name)
            #expect(isNamed, "no rule names \(name)")
        }
    }

    @Test func `each reply code is in the index of the codes`() throws {
        let text = try Repository.text("docs/RULES.md")
        let source = try Repository.text("Sources/Model/PlazaModel/Calls/ReplyCode.swift")
        // A declaration is a line such as `static let userMuted = ReplyCode(-2381)`.
        let declarations = source.split(separator: "\n").filter { $0.contains("static let ") }
        let arguments = declarations.compactMap { $0.split(separator: "ReplyCode(").last?.prefix { $0 != ")" } }
        let codes = arguments.filter { Int($0) != nil }
        #expect(codes.count > 60, "most codes of the source were not recognized")
        // 100017 (`muted`) is another code for a muted user; the servers never return it.
        for code in codes where code != "100017" {
            #expect(text.contains("\n| \(code.replacing("-", with: "−")) | "), "no rule gives \(code)")
        }
    }

    @Test func `each invariant is listed in the rules`() throws {
        let text = try Repository.text("docs/RULES.md")
        for number in 1...17 { #expect(text.contains("\n| I\(number) | "), "docs/RULES.md lacks I\(number)") }
    }
}
