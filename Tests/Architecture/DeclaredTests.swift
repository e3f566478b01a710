// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Tests that all declared metrics and disconnect codes are used in other files, and documented.
@Suite struct DeclaredTests {
    private static func document(_ name: String) throws -> String { try Repository.text("docs/\(name)") }

    /// The constants that a file declares by `package static let NAME = VALUE`, each on one line.
    private static func constants(_ path: String) throws -> [(name: String, value: String)] {
        let file = try #require(SourceTree.sources.first { $0.path == path })
        return file.code.compactMap { _, text in
            // The five words `package static let NAME =`, and the rest of the line as the value.
            let words = text.split(separator: " ", maxSplits: 5)
            guard words.count == 6, words[0] == "package", words[1] == "static", words[2] == "let" else { return nil }
            return (String(words[3]), String(words[5]))
        }
    }

    /// The paths of the files that contain each `owner.member`, as in `MetricNames.Shell.batch`, and each `.member`.
    private static let filesByMember: [String: Set<String>] = {
        func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
            default: false
            }
        }
        var found: [String: Set<String>] = [:]
        for file in SourceTree.sources {
            for (_, text) in file.code {
                let bytes = Array(text.utf8)
                for dot in bytes.indices where bytes[dot] == UInt8(ascii: ".") {
                    let nameAfterDot = bytes[(dot + 1)...].prefix(while: isWord)
                    if nameAfterDot.isEmpty { continue }
                    let textBeforeDot = bytes[..<dot].suffix(while: { isWord($0) || $0 == UInt8(ascii: ".") })
                    let member = "." + String(decoding: nameAfterDot, as: UTF8.self)
                    found[member, default: []].insert(file.path)
                    found[String(decoding: textBeforeDot, as: UTF8.self) + member, default: []].insert(file.path)
                }
            }
        }
        return found
    }()

    /// Whether a file other than `path` contains `owner.name` for one of the owners; an empty owner allows any.
    private static func isUsed(_ name: String, outside path: String, after owners: [String]) -> Bool {
        owners.contains { !(Self.filesByMember["\($0).\(name)"] ?? []).subtracting([path]).isEmpty }
    }

    @Test func `every declared metric is exported and documented`() throws {
        let path = "Sources/Platform/Observability/MetricNames.swift"
        let metrics = try Self.constants(path)
        #expect(metrics.count > 30, "most declarations were not recognized")
        let operating = try Self.document("OPERATING.md")
        let groups = [
            "Shell", "Kafka", "Redis", "HTTP", "Gateway", "Barrage", "Audience", "Process", "Webhooks", "Traces",
        ]
        // Some files have a short name for their group: `typealias Names` or `let names`.
        let owners = ["Names", "names"] + groups.map { "MetricNames.\($0)" }
        for (name, value) in metrics {
            #expect(Self.isUsed(name, outside: path, after: owners), "\(name) is exported by nobody")
            let exported = value.filter { $0 != "\"" }
            // The page may shorten the names of metrics with the same beginning: `…_shed_total`.
            let ending = exported.split(separator: "_").suffix(2).joined(separator: "_")
            #expect(
                operating.contains("`\(exported)`") || operating.contains("`…_\(ending)`"),
                "\(exported) is not in OPERATING.md")
        }
    }

    @Test func `every declared disconnect code is used and documented`() throws {
        let path = "Sources/Model/PlazaModel/Calls/DisconnectCode.swift"
        let codes = try Self.constants(path)
        #expect(codes.count >= 8, "most declarations were not recognized")
        let rows = try DocumentPage("PROTOCOL").lines(under: "Disconnect codes")
        for (name, value) in codes {
            #expect(Self.isUsed(name, outside: path, after: ["", "DisconnectCode"]), "\(name) is used nowhere")
            let number = value.drop { !$0.isNumber }.prefix { $0.isNumber }
            #expect(rows.contains { $0.hasPrefix("| \(number) |") }, "\(name) has no row in the table of codes")
        }
    }
}

extension ArraySlice {
    /// The longest suffix whose elements all satisfy `predicate`.
    fileprivate func suffix(while predicate: (Element) -> Bool) -> ArraySlice {
        let start = self.indices.reversed().first { !predicate(self[$0]) }.map { $0 + 1 } ?? self.startIndex
        return self[start...]
    }
}
