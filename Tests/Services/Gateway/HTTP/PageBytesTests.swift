// SPDX-License-Identifier: Apache-2.0
import Foundation
import GatewayCore
import Repository
import Testing

@testable import Gateway

/// The bytes that a browser loads for the scripts of the pages in clients/web, as a gateway serves them.
@Suite struct PageBytesTests {
    /// The maximum size, as served, of all scripts that are loaded until the live page is shown.
    private static let maxScriptBytes = 60_000

    /// The size of each script as it is served, by its path: compressed if that is smaller.
    private func sizes() throws -> [String: Int] {
        let site = try PagesFolder.read(Repository.root.path + "/clients/web")
        let scripts = site.files.filter { $0.path.hasSuffix(".js") }
        return Dictionary(uniqueKeysWithValues: scripts.map { ($0.path, $0.gzip?.count ?? $0.body.count) })
    }

    /// The sum of the sizes of scripts, which are named by their paths in `/pages` without `.js`.
    private func total(_ names: [String], of sizes: [String: Int]) throws -> Int {
        try names.map { try #require(sizes["/pages/\($0).js"], "no such file: \($0)") }.reduce(0, +)
    }

    /// Rules: R13.37, R13.38.
    @Test func `a viewer loads at most 60 kB of script until a live is shown`() throws {
        let sizes = try self.sizes()
        // `main` and `bundle` contain everything that the first module imports statically. A viewer who comes by the
        // earlier pages (sign-in, plaza) loads their scripts, too. A viewer with the second language, Chinese, loads
        // its texts, too. The limit holds with either of the two (R13.38), not with both.
        let livePage = try self.total(["main", "bundle"], of: sizes)
        let earlierPages = try self.total(
            ["session/sign-in", "plaza/plaza-page", "plaza/card", "plaza/search"], of: sizes)
        let chineseTexts = try self.total(["texts/zh"], of: sizes)
        #expect(
            livePage + chineseTexts <= Self.maxScriptBytes,
            "the live page loads \(livePage) bytes, and \(chineseTexts) of Chinese texts")
        #expect(
            livePage + earlierPages <= Self.maxScriptBytes,
            "the live page loads \(livePage) bytes, and the earlier pages \(earlierPages)")
    }

    /// Rules: R13.37.
    @Test func `a module that is in the bundle is served at its own path as a short script that imports the bundle`()
        throws
    {
        let sizes = try self.sizes()
        for name in ["lib/dom", "live/live-page", "barrage/renderer"] {
            #expect(
                try self.total([name], of: sizes) < 200,
                "\(name) must be in the bundle, so that its own file is short")
        }
    }
}
