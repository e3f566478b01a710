// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// The public API and the dependencies of the products that apps use.
@Suite(.serialized) struct PublicAPITests {
    @Test(.timeLimit(.minutes(2))) func `the public API is the one that docs/api describes`() throws {
        // The built modules are in `Modules` of one of the folders above the test program; which folder depends on the
        // kind of build.
        let program = URL(filePath: try #require(CommandLine.arguments.first))
        let foldersAboveProgram = sequence(first: program.deletingLastPathComponent()) { folder in
            // The root folder has the path `/`.
            folder.path.count > 1 ? folder.deletingLastPathComponent() : nil
        }
        let modules = try #require(
            foldersAboveProgram.lazy.map { $0.appending(path: "Modules") }.first {
                FileManager.default.fileExists(atPath: $0.appending(path: "LivePlazaKit.swiftmodule").path)
            }, "no built modules above \(program.path)")
        let script = Repository.root.appending(path: "deploy/api-dump.py").path
        let (status, output) = try Self.runProgram(["python3", script, "--check", "--modules", modules.path])
        #expect(status == 0, "\(output)")
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["LivePlazaKit", "LivePlazaCombine", "LivePlazaTesting"])
    func `no product that apps use depends on a C library`(product: String) throws {
        let manifest = try Self.manifest.get()
        let targets = Dictionary(uniqueKeysWithValues: manifest.targets.map { ($0.name, $0) })
        let roots = try #require(manifest.products.first { $0.name == product }).targets
        let reached = Self.reachableTargets(from: roots, in: targets)
        let systemLibraries = Set(manifest.targets.filter { $0.type == "system" }.map(\.name))
        #expect(reached.isSuperset(of: roots))
        #expect(reached.isDisjoint(with: systemLibraries))
        // `LivePlazaTransport` depends on C libraries, so this shows that the search finds them.
        let reachedByTransport = Self.reachableTargets(from: ["LivePlazaTransport"], in: targets)
        #expect(!reachedByTransport.isDisjoint(with: systemLibraries))
    }

    // MARK: The package's description

    private struct Manifest: Decodable {
        struct Product: Decodable {
            var name: String
            var targets: [String]
        }
        struct Target: Decodable {
            var name: String
            var type: String
            var dependencies: [Dependency]
        }
        /// A dependency; in JSON an object with one member: an array that begins with the target's name.
        ///
        /// Conditions, such as a platform, are ignored, because Xcode builds a dependency whatever its conditions are.
        struct Dependency: Decodable {
            var name: String

            init(from decoder: any Decoder) throws {
                let kinds = try decoder.container(keyedBy: Kind.self)
                guard let kind = kinds.allKeys.first else { throw CocoaError(.coderReadCorrupt) }
                var values = try kinds.nestedUnkeyedContainer(forKey: kind)
                self.name = try values.decode(String.self)
            }

            /// The key of the only member: the kind of the dependency.
            private struct Kind: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init?(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
        }
        var products: [Product]
        var targets: [Target]
    }

    /// The package's description, which `swift package dump-package` prints; all tests share it.
    private static let manifest = Result<Manifest, any Error> {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "liveplaza-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        // The build's scratch folder is locked while tests run, so the manifest is read with another folder.
        let (status, output) = try Self.runProgram(
            [
                "swift", "package", "--package-path", Repository.root.path, "--scratch-path", scratch.path,
                "dump-package",
            ], includesErrorOutput: false)
        guard status == 0 else { throw CocoaError(.executableLoad) }
        return try JSONDecoder().decode(Manifest.self, from: Data(output.utf8))
    }

    /// The root targets, and all targets on which they depend.
    private static func reachableTargets(from roots: [String], in targets: [String: Manifest.Target]) -> Set<String> {
        var (found, remaining) = (Set<String>(), roots)
        while let next = remaining.popLast() {
            guard found.insert(next).inserted else { continue }
            remaining += targets[next]?.dependencies.map(\.name) ?? []
        }
        return found
    }

    /// Runs a program from a folder in PATH, with its arguments, and waits for its end.
    ///
    /// `includesErrorOutput`: whether the output contains the program's standard error, too.
    private static func runProgram(
        _ arguments: [String], includesErrorOutput: Bool = true
    ) throws -> (status: Int32, output: String) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = pipe
        if includesErrorOutput { process.standardError = pipe }
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
