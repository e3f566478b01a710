// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import PlazaModel
import Testing

@Suite struct CodeTests {
    private func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// The constants that a source file declares, with their numbers.
    private func constants(_ file: String, _ type: String) throws -> [(name: String, code: Int)] {
        let text = try self.text("Sources/PlazaModel/\(file)")
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "static", words[2] == "let", words[5].hasPrefix("\(type)(") else {
                return nil
            }
            let number = words[5].dropFirst(type.count + 1).prefix { $0 == "-" || $0.isNumber }
            return Int(number).map { (String(words[3]), $0) }
        }
    }

    @Test func `each reply code has a number and a name of its own, and the name is its constant's`() throws {
        let codes = try self.constants("ReplyCode.swift", "ReplyCode")
        #expect(codes.count > 70)
        #expect(Set(codes.map(\.code)).count == codes.count)
        #expect(Set(codes.map(\.name)).count == codes.count)
        for (name, code) in codes { #expect(ReplyCode(code).name == name) }
        #expect(ReplyCode(12345).name == "error12345")
    }

    @Test func `each reply code has its row in the protocol, the app's own have one together`() throws {
        let document = try self.text("docs/PROTOCOL.md")
        for (name, code) in try self.constants("ReplyCode.swift", "ReplyCode") where code != ReplyCode.muted.code {
            #expect(document.contains("| \(code) | `\(name)` | "), "\(code) \(name)")
        }
        #expect(document.contains("never sent by this version: 100017 `muted`"))
        #expect(document.contains("| 102100–102200 | `\(ReplyCode(102_100).name)` … | "))
    }

    @Test func `a disconnect code's range says whether to come back`() throws {
        let codes = try self.constants("DisconnectCode.swift", "DisconnectCode")
        #expect(codes.count >= 8)
        #expect(Set(codes.map(\.code)).count == codes.count)
        for (_, code) in codes { #expect((4000..<4200).contains(code)) }
        #expect(DisconnectCode.draining.reconnects)
        #expect(DisconnectCode.slowReader.reconnects)
        #expect(!DisconnectCode.tokenRefused.reconnects)
        #expect(!DisconnectCode.replaced.reconnects)
    }

    @Test func `I9 what bears state is control, what people say is barrage, who comes and goes is a tip`() {
        let user = UserInfo(userID: "bob")
        #expect(FeedContent.liveEnded(reason: .endedByHost, statistics: LiveStatistics()).feedClass == .control)
        #expect(FeedContent.metadataChanged(set: [:], removed: []).feedClass == .control)
        #expect(FeedContent.text(sender: user, text: "x", extensionInfo: nil).feedClass == .barrage)
        #expect(FeedContent.audienceLeft(user: user).feedClass == .tip)
        #expect(FeedClass.allCases == FeedClass.allCases.sorted())
        #expect(Set(FeedClass.allCases.map(\.name)).count == 5)
    }
}
