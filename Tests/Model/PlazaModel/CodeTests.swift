// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Repository
import Testing

/// The numbers and names of reply codes and disconnect codes, and the classes of feed items.
@Suite struct CodeTests {
    /// The constants that a source file declares in lines of the form `package static let name = Type(number…`.
    private func constants(in file: String, of type: String) throws -> [(name: String, code: Int)] {
        let text = try Repository.text("Sources/Model/PlazaModel/Calls/\(file)")
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "static", words[2] == "let", words[5].hasPrefix("\(type)(") else {
                return nil
            }
            let number = words[5].dropFirst(type.count + 1).prefix { $0 == "-" || $0.isNumber }
            return Int(number).map { (String(words[3]), $0) }
        }
    }

    @Test func `each reply code has a unique number, and its constant's name as its name`() throws {
        let codes = try self.constants(in: "ReplyCode.swift", of: "ReplyCode")
        #expect(codes.count > 70, "most constants of the source file were not recognized")
        #expect(Set(codes.map(\.code)).count == codes.count)
        #expect(Set(codes.map(\.name)).count == codes.count)
        for (name, code) in codes { #expect(ReplyCode(code).name == name) }
        #expect(ReplyCode(12345).name == "error12345", "a code without a constant is named by its number")
    }

    @Test func `each reply code has a row in the protocol page, and the codes of backends share one row`() throws {
        let rows = try DocumentPage("PROTOCOL").lines(under: "Reply codes")
        let codes = try self.constants(in: "ReplyCode.swift", of: "ReplyCode")
        // `muted` is not in the table: a note below the table says that this version never sends it.
        for (name, code) in codes where code != ReplyCode.muted.code {
            #expect(rows.contains { $0.hasPrefix("| \(code) | `\(name)` | ") }, "\(code) \(name)")
        }
        #expect(rows.contains { $0.contains("never sent by this version: 100017 `muted`") })
        #expect(rows.contains { $0.hasPrefix("| 102100–102200 | `\(ReplyCode(102_100).name)` … | ") })
    }

    @Test func `the range of a disconnect code says whether to reconnect`() throws {
        let codes = try self.constants(in: "DisconnectCode.swift", of: "DisconnectCode")
        #expect(codes.count >= 8, "most constants of the source file were not recognized")
        #expect(Set(codes.map(\.code)).count == codes.count)
        // After a code below 4100 a client reconnects; after 4100 or a higher code it does not.
        for (_, code) in codes { #expect((4000..<4200).contains(code)) }
        #expect(DisconnectCode.allowsReconnect(after: DisconnectCode.draining.code))
        #expect(DisconnectCode.allowsReconnect(after: DisconnectCode.slowReader.code))
        #expect(!DisconnectCode.allowsReconnect(after: DisconnectCode.tokenRefused.code))
        #expect(!DisconnectCode.allowsReconnect(after: DisconnectCode.replaced.code))
    }

    /// Rules: R12.4.
    @Test func `I9 a state change has the feed class control, a message barrage, and a leave tip`() {
        let user = UserInfo(userID: "bob")
        #expect(FeedContent.liveEnded(reason: .endedByHost, statistics: LiveStatistics()).feedClass == .control)
        #expect(FeedContent.metadataChanged(set: [:], removed: []).feedClass == .control)
        #expect(FeedContent.text(sender: user, text: "x", extensionInfo: nil).feedClass == .barrage)
        #expect(FeedContent.audienceLeft(user: user).feedClass == .tip)
        #expect(FeedClass.allCases == FeedClass.allCases.sorted())
        #expect(Set(FeedClass.allCases.map(\.name)).count == 5)
    }
}
