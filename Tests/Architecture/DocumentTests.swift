// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that documents about the code name only files and types that exist.
@Suite struct DocumentTests {
    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path)
    }

    /// The texts in backquotes on the lines of a document, except indented lines, which are code blocks.
    private static func backquotedTexts(in text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("    ") }.flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }

    /// The names of the types that the sources declare, and of all targets.
    private static let declaredNames: Set<String> = {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        var names = Set((SourceTree.sources + SourceTree.tests).map(\.target))
        for file in SourceTree.sources {
            for (_, text) in file.code {
                let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                for (kind, name) in zip(words, words.dropFirst()) where kinds.contains(kind) {
                    names.insert(String(name))
                }
            }
        }
        return names
    }()

    private static let fileNames = Set(
        (SourceTree.sources + SourceTree.tests).compactMap { $0.path.split(separator: "/").last.map(String.init) })

    @Test(arguments: ["CONTRIBUTING.md", "docs/GLOSSARY.md"])
    func `every file and type that a document names exists`(document: String) throws {
        let names = Self.backquotedTexts(in: try Repository.text(document))
            .filter { !$0.contains(" ") && !$0.contains("*") }
        #expect(names.count > 30, "most names were not recognized")
        for name in names {
            // A name with a slash is a path, one with the ending `.swift` a file, and one in mixed case a type.
            if name.contains("/") {
                // A topic's key such as `app/live` is not a path.
                let isPath = ["Sources/", "Tests/", "docs/", "deploy/", ".ci/"].contains { name.hasPrefix($0) }
                #expect(!isPath || Self.exists(name), "\(document) names \(name), which does not exist")
            } else if name.hasSuffix(".swift") {
                let exists = Self.fileNames.contains(name)
                #expect(exists, "\(document) names \(name), which does not exist")
            } else if name.first?.isUppercase == true, name.contains(where: \.isLowercase),
                name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." })
            {
                let type = name.split(separator: ".").first.map(String.init) ?? name
                let exists = Self.declaredNames.contains(type)
                #expect(exists, "\(document) names the type \(name), which does not exist")
            }
        }
    }
}
