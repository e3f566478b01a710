// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// The stored bans of a live: older versions wrote them as one row, newer versions write them as several rows.
@Suite struct OldBanRowTests {
    /// Rules: R17.6.
    @Test func `bans that an older version wrote as one row are read, and split into rows at the next change`() throws {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(createCommand(by: user("alice", call: 1)))
        // The bans are listed in the order of the user ids. Each id has four digits, so the ids sort like their
        // numbers.
        let names = (0..<600).map { "u\(1000 + $0)" }
        let entries = names.map { #"{"by":"alice","reason":"\u0001","user":"\#($0)"}"# }.joined(separator: ",")
        let oldRow = Data(#"{"sanctions":{"list":{"entries":[\#(entries)]}}}"#.utf8)
        let rowKey = try #require(DirectoryKey(text: "bans/demo/show"))
        directory.rows.restore(rowKey, try JSONDecoder().decode(DirectoryRow.self, from: oldRow))

        /// All banned users, read page by page.
        func listedUsers() -> [String] {
            var users: [String] = []
            var offset = 0
            repeat {
                let list = DirectoryCommand.bans(
                    live: "show", offset: offset, count: 100, caller: user("alice", call: 2))
                guard case .reply(let reply)? = directory.send(list).last,
                    case .success(.sanctions(let page)) = reply.outcome
                else {
                    Issue.record("the bans cannot be read")
                    return []
                }
                users += page.items.map(\.user.text)
                offset = page.nextOffset
            } while offset > 0
            return users
        }
        #expect(listedUsers() == names)
        #expect(directory.rowCount(of: "bans") == 1, "reading does not split the row")
        let unban = DirectoryCommand.unban(live: "show", users: ["u1300"], caller: user("alice", call: 3))
        #expect(codes(directory.send(unban)) == [])
        #expect(listedUsers() == names.filter { $0 != "u1300" })
        // A row has at most 50 bans, so the 600 - 1 = 599 bans need 12 rows.
        #expect(directory.rowCount(of: "bans") == 12)
        let ban = DirectoryCommand.ban(
            live: "show", users: ["a", "u1200", "z"], durationSeconds: 60, reason: "",
            caller: user("alice", call: 4))
        #expect(codes(directory.send(ban)) == [])
        #expect(listedUsers() == ["a"] + names.filter { $0 != "u1300" } + ["z"])
        #expect(try directory.roundTripsThroughStateTopic())
        directory.expectInvariants()
        // The new bans, which last 60 s, end. u1200 then has no ban, because its new ban replaced its old ban, which
        // had no end. Ended bans are removed before the next input. The next input is a repeated call, which changes
        // nothing by itself.
        directory.now = directory.now + .seconds(60)
        _ = directory.send(unban)
        #expect(listedUsers() == names.filter { $0 != "u1300" && $0 != "u1200" })
        directory.expectInvariants()
    }
}
