// SPDX-License-Identifier: Apache-2.0
import Foundation
import GatewayCore
import Repository
import Testing

@testable import Gateway

/// The bytes that a browser loads for the pages in clients/web, as a gateway serves them.
@Suite struct PageBytesTests {
    /// The maximum size, as served, of all scripts that are loaded until the live page is shown.
    private static let maxScriptBytes = 60_000
    /// The maximum size, as served, of these scripts and those of the pages on the way to the live page.
    private static let maxScriptBytesWithEarlierPages = 64_000
    /// The maximum size, as served, of the texts of one language.
    private static let maxTextBytes = 8_000

    /// The size of each file by its path; a file is served compressed if that makes it smaller.
    private func sizes() throws -> [String: Int] {
        let site = try PagesFolder.read(Repository.root.path + "/clients/web")
        return Dictionary(uniqueKeysWithValues: site.files.map { ($0.path, $0.gzip?.count ?? $0.body.count) })
    }

    /// The sum of the sizes of these files; a file's name is its path in `/pages`.
    private func total(_ names: [String], of sizes: [String: Int]) throws -> Int {
        try names.map { try #require(sizes["/pages/\($0)"], "no such file: \($0)") }.reduce(0, +)
    }

    /// Rules: R13.37, R13.38.
    @Test func `a viewer loads at most 60 kB of script for a live, and 64 kB with the pages on the way to it`() throws {
        let sizes = try self.sizes()
        // `main.js` is the first module, and `bundle.js` has all scripts that it imports statically. A viewer who first
        // sees the sign-in page and the plaza, the list of lives, also loads the scripts of these two pages.
        let livePage = try self.total(["main.js", "bundle.js"], of: sizes)
        let earlierPages = try self.total(
            ["session/sign-in.js", "plaza/plaza-page.js", "plaza/card.js", "plaza/search.js"], of: sizes)
        #expect(
            livePage <= Self.maxScriptBytes && livePage + earlierPages <= Self.maxScriptBytesWithEarlierPages,
            "the live page loads \(livePage) bytes, and the earlier pages \(earlierPages)")
    }

    /// Rules: R13.38.
    @Test(arguments: ["en", "zh"]) func `the texts of one language, which no script contains, have at most 8 kB`(
        language: String
    ) throws {
        let site = try PagesFolder.read(Repository.root.path + "/clients/web")
        let file = try #require(site.files.first { $0.path == "/pages/texts/\(language).json" })
        #expect(file.contentType == "application/json")
        let size = file.gzip?.count ?? file.body.count
        #expect(size <= Self.maxTextBytes, "the texts of \(language) have \(size) bytes")
        // If a script contained texts, a viewer would load the texts of other languages, too.
        let scripts = site.files.filter { $0.path.hasPrefix("/pages/texts/") && $0.path.hasSuffix(".js") }
        #expect(scripts.isEmpty)
    }

    /// Rules: R13.37.
    @Test func `a module that is in the bundle is served at its own path as a short script that imports the bundle`()
        throws
    {
        let sizes = try self.sizes()
        for name in ["lib/dom", "live/live-page", "barrage/renderer"] {
            #expect(
                try self.total(["\(name).js"], of: sizes) < 200,
                "\(name) must be in the bundle, so that its own file is short")
        }
    }
}
