// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that the products for apps use no module and no declaration that Apple systems lack.
@Suite struct ProductTests {
    /// The products for apps on Apple systems.
    private static let products = ["LivePlazaKit", "LivePlazaCombine", "LivePlazaTesting"]

    /// For each library target, the texts in quotes of its entry in the manifest, except the target's own name.
    ///
    /// Among them are the names of the target's dependencies. Other texts name no target.
    private static let quotedNames: [String: Set<String>] = {
        guard let manifest = try? Repository.text("Package.swift") else { return [:] }
        var found: [String: Set<String>] = [:]
        for entry in manifest.components(separatedBy: "    library(").dropFirst() {
            let words = entry.split(separator: "\"", omittingEmptySubsequences: false)
            let quoted = stride(from: 1, to: words.count, by: 2).map { String(words[$0]) }
            if let name = quoted.first { found[name] = Set(quoted.dropFirst()) }
        }
        return found
    }()

    /// The names of the C libraries that the manifest declares.
    private static let systemLibraries: Set<String> = {
        guard let manifest = try? Repository.text("Package.swift") else { return [] }
        let entries = manifest.components(separatedBy: ".systemLibrary(").dropFirst()
        return Set(entries.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) })
    }()

    /// A target and all its direct and indirect dependencies.
    private static func targetAndDependencies(of target: String) -> Set<String> {
        var (found, unvisited) = (Set<String>(), [target])
        while let next = unvisited.popLast() {
            guard found.insert(next).inserted else { continue }
            unvisited += (Self.quotedNames[next] ?? []).filter {
                Self.quotedNames[$0] != nil || Self.systemLibraries.contains($0)
            }
        }
        return found
    }

    @Test(arguments: products)
    func `no product for apps depends on a C library, directly or indirectly`(product: String) {
        // First: the manifest was read, and the search finds the C library on which EventLoop depends.
        #expect(Self.systemLibraries.isSuperset(of: ["CUV", "COpenSSL", "CThread"]))
        #expect(!Self.targetAndDependencies(of: "EventLoop").isDisjoint(with: Self.systemLibraries))

        #expect(Self.targetAndDependencies(of: product).intersection(Self.systemLibraries).isEmpty)
    }

    @Test func `the sources of products for apps use no module and no type that the supported Apple systems lack`() {
        let targets = Self.products.reduce(into: Set<String>()) { $0.formUnion(Self.targetAndDependencies(of: $1)) }
        #expect(targets.isSuperset(of: ["LivePlazaKit", "PlazaWire", "PlazaModel", "MachineKit"]))
        let missingOnApple = [
            "import Glibc", "import Musl", "import FoundationEssentials", "import Synchronization", "Mutex<", "Mutex(",
            "UTF8Span", "utf8Span", "utf8.span", "InlineArray",
        ]
        for file in SourceTree.sources where targets.contains(file.target) {
            // For each `#if` around the line, whether its condition contains `canImport`.
            var enclosingConditions: [Bool] = []
            for (number, text) in file.code {
                let line = text.trimmingCharacters(in: .whitespaces)
                if line.hasPrefix("#if") { enclosingConditions.append(line.contains("canImport")) }
                if line.hasPrefix("#endif") { _ = enclosingConditions.popLast() }
                // Code under `canImport` is compiled only where the module exists.
                if enclosingConditions.contains(true) { continue }
                for word in missingOnApple { #expect(!text.contains(word), "\(file.path):\(number)") }
            }
        }
    }
}
