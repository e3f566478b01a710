// SPDX-License-Identifier: Apache-2.0
import Foundation
import GatewayCore
import Testing

@testable import Gateway

/// The bytes that a browser loads for the scripts of the pages in clients/web, as a gateway serves them.
@Suite struct PageBytesTests {
    /// The maximum gzip size of the scripts that are loaded until the live page is shown.
    private static let limit = 60_000

    private func sizes() throws -> [String: Int] {
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
        let site = try PagesFolder.read("\(root)/clients/web")
        let scripts = site.files.filter { $0.path.hasSuffix(".js") }
        return Dictionary(uniqueKeysWithValues: scripts.map { ($0.path, $0.gzip?.count ?? $0.body.count) })
    }

    private func total(_ names: [String], of sizes: [String: Int]) throws -> Int {
        try names.map { try #require(sizes["/pages/\($0).js"], "no such file: \($0)") }.reduce(0, +)
    }

    /// Rules: R13.37, R13.38.
    @Test func `a viewer loads at most 60 kB of script until a live is shown`() throws {
        let sizes = try self.sizes()
        // The first two files have all static imports. The others are loaded on the pages before the live page.
        let live = try self.total(["main", "bundle"], of: sizes)
        let pathToLive = try self.total(
            ["session/sign-in", "plaza/plaza-page", "plaza/card", "plaza/search"], of: sizes)
        let chinese = try self.total(["texts/zh"], of: sizes)
        #expect(live + chinese <= Self.limit, "the live page: \(live), and \(chinese) of Chinese texts")
        #expect(live + pathToLive <= Self.limit, "the live page: \(live), and \(pathToLive) of the scripts before it")
    }

    /// Rules: R13.37.
    @Test func `a module of the bundle is not served a second time in full at its own path`() throws {
        let sizes = try self.sizes()
        for name in ["lib/dom", "live/live-page", "barrage/renderer"] {
            #expect(try self.total([name], of: sizes) < 200, "\(name) is not in the bundle")
        }
    }
}
