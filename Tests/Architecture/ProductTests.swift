// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// What Xcode builds for an app is free of what Apple systems have not.
@Suite struct ProductTests {
    /// The products for apps on Apple systems.
    private static let products = ["LivePlazaKit", "LivePlazaCombine", "LivePlazaTesting"]

    /// Each library target's other names between quotes in the manifest; those that are targets are its dependencies.
    private static let names: [String: Set<String>] = {
        guard let manifest = try? Repository.text("Package.swift") else { return [:] }
        var found: [String: Set<String>] = [:]
        for piece in manifest.components(separatedBy: "    library(").dropFirst() {
            let words = piece.split(separator: "\"", omittingEmptySubsequences: false)
            let quoted = stride(from: 1, to: words.count, by: 2).map { String(words[$0]) }
            if let name = quoted.first { found[name] = Set(quoted.dropFirst()) }
        }
        return found
    }()

    /// The C libraries.
    private static let systemLibraries: Set<String> = {
        guard let manifest = try? Repository.text("Package.swift") else { return [] }
        let pieces = manifest.components(separatedBy: ".systemLibrary(").dropFirst()
        return Set(pieces.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) })
    }()

    /// A target, and all that it depends on.
    private static func closure(of target: String) -> Set<String> {
        var (found, open) = (Set<String>(), [target])
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            open += (Self.names[next] ?? []).filter { Self.names[$0] != nil || Self.systemLibraries.contains($0) }
        }
        return found
    }

    @Test(arguments: products)
    func `no product for apps reaches a C library`(product: String) {
        #expect(Self.systemLibraries.isSuperset(of: ["CUV", "COpenSSL", "CThread"]))
        #expect(!Self.closure(of: "EventLoop").isDisjoint(with: Self.systemLibraries), "the search finds none at all")
        #expect(Self.closure(of: product).intersection(Self.systemLibraries).isEmpty)
    }

    @Test func `the sources of products for apps use nothing that Apple systems lack, or that is newer than these`() {
        let targets = Self.products.reduce(into: Set<String>()) { $0.formUnion(Self.closure(of: $1)) }
        #expect(targets.isSuperset(of: ["LivePlazaKit", "PlazaWire", "PlazaModel", "MachineKit"]))
        let words = [
            "import Glibc", "import Musl", "import FoundationEssentials", "import Synchronization", "Mutex<", "Mutex(",
            "UTF8Span", "utf8Span", "utf8.span", "InlineArray",
        ]
        for file in SourceTree.sources where targets.contains(file.target) {
            // Whether each `#if` around the line asks for a module.
            var asks: [Bool] = []
            for (number, text) in file.code {
                let line = text.trimmingCharacters(in: .whitespaces)
                if line.hasPrefix("#if") { asks.append(line.contains("canImport")) }
                if line.hasPrefix("#endif") { _ = asks.popLast() }
                if asks.contains(true) { continue }
                for word in words { #expect(!text.contains(word), "\(file.path):\(number)") }
            }
        }
    }
}
