// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests of the two lists of test targets in `deploy/test.sh`: those that `--fast` runs, and those that need servers.
@Suite struct FastTests {
    /// The words of a list such as `fast_targets="A B"`.
    private static func words(ofList name: String) throws -> [String] {
        let script = try Repository.text("deploy/test.sh")
        let line = try #require(script.split(separator: "\n").first { $0.hasPrefix("\(name)=\"") }, "no list \(name)")
        let list = line.dropFirst("\(name)=\"".count).dropLast()
        return list.split(separator: " ").map(String.init)
    }

    /// The suites that a test file declares.
    private static func suites(in file: SourceFile) -> [String] {
        file.code.compactMap { _, text in
            let words = text.split(separator: " ")
            guard let index = words.firstIndex(of: "struct"), index + 1 < words.count else { return nil }
            let name = words[index + 1].prefix { $0.isLetter || $0.isNumber }
            return name.hasSuffix("Tests") ? String(name) : nil
        }
    }

    @Test func `every test target is in exactly one of the two lists of deploy/test.sh, and only once`() throws {
        let declared = Set(SourceTree.tests.map(\.target).filter { $0.hasSuffix("Tests") })
        let fast = try Self.words(ofList: "fast_targets")
        let server = try Self.words(ofList: "server_targets")
        #expect(declared.count > 20, "most test targets were not recognized")
        #expect(Set(fast).isDisjoint(with: server))
        #expect(Set(try Self.words(ofList: "second_process_targets")).isStrictSubset(of: server))
        #expect(fast.count + server.count == Set(fast + server).count, "no target may be in a list twice")
        #expect(declared.subtracting(fast + server).sorted() == [], "these targets are in no list of deploy/test.sh")
        #expect(Set(fast + server).subtracting(declared).sorted() == [], "these names in the lists are no test targets")
    }

    @Test func `a suite that --fast runs starts no server and no child process`() throws {
        let fast = try Self.words(ofList: "fast_targets")
        // The suites of fast targets that `--fast` skips.
        let leftOutSuites = try Self.words(ofList: "left_out_suites")
        // Code with one of these names starts a server or a child process.
        let starters = [
            "RealKafka", "RealRedis", "TestCluster", "EmbeddedBroker", "TopicBroker", "TestProcess", "ChildProcess(",
            "WatchedShell", "PythonPackages",
        ]
        // The files of `ArchitectureTests` contain these names only in lists such as this one.
        let files = SourceTree.tests.filter { fast.contains($0.target) && $0.target != "ArchitectureTests" }
        for file in files {
            let startsServer = file.code.contains { _, text in starters.contains { text.contains($0) } }
            if !startsServer { continue }
            let areLeftOut = Self.suites(in: file).allSatisfy { leftOutSuites.contains($0) }
            #expect(areLeftOut, "\(file.path) starts a server or a child process, and --fast runs it")
        }
        let fastSuites = Set(files.flatMap { Self.suites(in: $0) })
        for suite in leftOutSuites { #expect(fastSuites.contains(suite), "no fast target has a suite \(suite)") }
    }

    @Test func `every suite that deploy/test.sh runs alone belongs to a target with servers`() throws {
        let targets = Set(try Self.words(ofList: "server_targets"))
        let suites = Set(SourceTree.tests.filter { targets.contains($0.target) }.flatMap { Self.suites(in: $0) })
        let measured = try Self.words(ofList: "measured_suites")
        #expect(measured.count > 3)
        for suite in measured { #expect(suites.contains(suite), "no target with servers has a suite \(suite)") }
    }
}
