// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzTargets
import Repository
import Testing

/// Runs every fuzz target on its corpus; an input that traps ends the test process.
@Suite struct CorpusTests {
    /// The files of a folder, sorted.
    private static func files(_ folder: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: Repository.root.appending(path: folder), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    @Test func `each target has a file and a corpus, and each file and corpus has a target`() throws {
        let names = FuzzTargetList.all.map(\.name).sorted()
        let suffix = "Fuzz.swift"
        let files = try Self.files("Tests/Fuzz/Targets").map(\.lastPathComponent).filter { $0.hasSuffix(suffix) }
        #expect(files.map { String($0.dropLast(suffix.count)) }.sorted() == names)
        #expect(try Self.files("Tests/Fuzz/Corpus").map(\.lastPathComponent).sorted() == names)
    }

    @Test(arguments: FuzzTargetList.all.map(\.name))
    func `no input of its corpus, and no prefix of such an input, makes a target trap`(name: String) throws {
        let target = try #require(FuzzTargetList.all.first { $0.name == name }).target
        let files = try Self.files("Tests/Fuzz/Corpus/\(name)")
        #expect(!files.isEmpty)
        target.run([])
        for file in files {
            let input = Array(try Data(contentsOf: file))
            target.run(input)
            // Prefixes at equal distances: all of a short input, and at most 126 of a long one.
            for length in stride(from: 1, to: input.count, by: max(1, input.count / 64)) {
                target.run(Array(input[..<length]))
            }
        }
    }
}
