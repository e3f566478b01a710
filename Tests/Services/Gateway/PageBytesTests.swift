// SPDX-License-Identifier: Apache-2.0
import Foundation
import GatewayCore
import Testing

@testable import Gateway

/// The bytes that a browser loads for the scripts of the pages in clients/web, as a gateway serves them.
@Suite struct PageBytesTests {
    /// The maximum gzip size of the scripts that are loaded until the live page is shown.
    private static let limit = 60_000

    /// The size of each script by its path, compressed if that is smaller.
    private func sizes() throws -> [String: Int] {
        // The repository's root: the path without `Tests/Services/Gateway` and this file.
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
        let site = try PagesFolder.read("\(root)/clients/web")
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
        // The first two files contain all static imports. The pages before the live page load further files, and so
        // does the second language. The limit holds with either of the two (R13.38), not with both.
        let livePage = try self.total(["main", "bundle"], of: sizes)
        let earlierPages = try self.total(
            ["session/sign-in", "plaza/plaza-page", "plaza/card", "plaza/search"], of: sizes)
        let chineseTexts = try self.total(["texts/zh"], of: sizes)
        #expect(
            livePage + chineseTexts <= Self.limit, "the live page: \(livePage), and \(chineseTexts) of Chinese texts")
        #expect(
            livePage + earlierPages <= Self.limit,
            "the live page: \(livePage), and \(earlierPages) of the scripts before it")
    }

    /// Rules: R13.37.
    @Test func `at its own path, a module of the bundle is only a short script that imports the bundle`() throws {
        let sizes = try self.sizes()
        for name in ["lib/dom", "live/live-page", "barrage/renderer"] {
            #expect(try self.total([name], of: sizes) < 200, "\(name) is not in the bundle")
        }
    }
}
