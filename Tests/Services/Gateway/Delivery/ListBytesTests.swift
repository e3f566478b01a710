// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// The size of a frame with a page of the list of lives whose texts have their maximum lengths.
@Suite struct ListBytesTests {
    /// Returns lives whose texts consist of `character` and have their maximum lengths, and the ranking of these lives.
    private func makeLives(_ count: Int, of character: Character) -> (ReadModel, Ranking) {
        // The lengths are those of `Limits`: 100 bytes for names and the notice, 200 for URLs, 50 for metadata keys,
        // 2048 for each value, and about 16 KB for all metadata.
        func text(_ bytes: Int) -> String { String(repeating: character, count: bytes) }
        var model = ReadModel()
        for number in 0..<count {
            let owner = UserInfo(userID: "anna", userName: text(100), avatarURL: text(200))
            var info = LiveInfo(liveID: LiveID("live-\(number)"), liveOwner: owner)
            (info.liveName, info.notice) = (text(100), text(100))
            (info.coverURL, info.backgroundURL) = (text(200), text(200))
            info.categoryList = [.min, .min, .min]
            info.admins = (0..<100).map { UserID(String(repeating: "a", count: 29) + "\($0)") }
            for key in 0..<8 { info.metaData["\(key)" + text(49)] = text(2048) }
            model.apply(LiveRecord(app: "demo", info: info, epoch: 1, revision: 1))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: MonotonicTime(milliseconds: 0))
        return (model, ranking)
    }

    /// Returns the frame sizes of all pages of a listing, and the lives in them.
    private func listAll(_ count: Int, of character: Character) throws -> (frameSizes: [Int], lives: [LiveID]) {
        let (model, ranking) = self.makeLives(count, of: character)
        var frameSizes: [Int] = []
        var lives: [LiveID] = []
        var cursor = ""
        repeat {
            let page = try ranking.page(
                app: "demo", cursor: cursor, count: Limits.listPage, at: MonotonicTime(milliseconds: 0)
            ) {
                model.listEntry($0, category: nil)
            }
            let outcome = Outcome.success(result: .lives(items: page.items, cursor: page.cursor))
            frameSizes.append(Wire.encode(ServerFrame.reply(id: .max, outcome)).count)
            lives += page.items.map(\.info.liveID)
            cursor = page.cursor
        } while !cursor.isEmpty
        return (frameSizes, lives)
    }

    /// JSON escapes some characters: a control character such as U+0001 has six bytes there, and a quotation mark two.
    @Test(arguments: ["\u{1}", "\"", "\\", "/", "x"] as [Character])
    func `a page of lives with long texts stays within the frame limit, and no live is left out`(
        character: Character
    ) throws {
        let (frameSizes, lives) = try self.listAll(50, of: character)
        #expect(lives.count == 50 && Set(lives).count == 50)
        // The lives of a page have at most `maxBytesPerPage` bytes; the rest of a frame has less than 1000 bytes.
        for bytes in frameSizes { #expect(bytes <= Ranking.maxBytesPerPage + 1000, "a frame has \(bytes) bytes") }
        if character == "\u{1}" {
            #expect(frameSizes.count > 2, "with six bytes a character, the lives do not fit into one frame")
        }
        if character == "x" { #expect(frameSizes.count == 1, "lives with ordinary texts fit into one frame") }
    }
}
