// SPDX-License-Identifier: Apache-2.0
import DirectoryCore
import MachineKit
import PlazaModel
import PlazaWire
import StageCore
import Testing

/// Bans and requests for seats, which older versions stored as one row for each live, and newer ones as several rows.
@Suite struct OldRowTests {
    private static let key = LiveKey("demo", "show")

    /// The caller of a user's call with this request counter.
    private func caller(_ user: UserID, counter: Int64) -> Caller {
        Caller(
            user: UserInfo(userID: user), role: .user, request: RequestID(session: "s", counter: counter),
            replyTo: "g", ticket: Ticket(100))
    }

    /// Rules: R17.6.
    @Test func `bans that an older version wrote as one row are read, and split into rows at the next change`() throws {
        var directory = SizeHarness(DirectoryMachine(policies: Policies()))
        let create = DirectoryCommand.create(
            live: "show", changes: LiveChanges(), owner: UserInfo(userID: "alice"),
            caller: self.caller("alice", counter: 1))
        // The directory sends the next steps of the creation to itself.
        for case .directory(let input, _) in directory.send(DirectoryInput(app: "demo", create)) {
            directory.send(input)
        }
        // The bans are listed in the order of the user ids. With four digits each, this is the order of the numbers,
        // too.
        let names = (0..<600).map { "u\(1000 + $0)" }
        let entries = names.map { #"{"by":"alice","reason":"\u0001","user":"\#($0)"}"# }.joined(separator: ",")
        let oldRow = Array(#"{"sanctions":{"list":{"entries":[\#(entries)]}}}"#.utf8)
        let rowKey = try #require(DirectoryKey(text: "bans/demo/show"))
        directory.journal.restore(rowKey, try Wire.decode(DirectoryRow.self, from: oldRow))

        /// All banned users, read page by page.
        func listedUsers() -> [String] {
            var users: [String] = []
            var offset = 0
            repeat {
                let list = DirectoryCommand.bans(
                    live: "show", offset: offset, count: 100, caller: caller("alice", counter: 2))
                guard case .reply(let reply)? = directory.send(DirectoryInput(app: "demo", list)).last,
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
        let unban = DirectoryCommand.unban(live: "show", users: ["u1300"], caller: self.caller("alice", counter: 3))
        #expect(directory.send(DirectoryInput(app: "demo", unban)).rejections == [])
        #expect(listedUsers() == names.filter { $0 != "u1300" })
        // The 599 bans fill 12 rows of 50.
        #expect(directory.rowCount(of: "bans") == 12)
        let ban = DirectoryCommand.ban(
            live: "show", users: ["a", "u1200", "z"], durationSeconds: 60, reason: "",
            caller: self.caller("alice", counter: 4))
        #expect(directory.send(DirectoryInput(app: "demo", ban)).rejections == [])
        #expect(listedUsers() == ["a"] + names.filter { $0 != "u1300" } + ["z"])
        directory.noteRows()
        #expect(directory.machine.checkInvariants(directory.journal) == [])
        // The new bans, which last 60 s, end. For u1200 this leaves no ban, because the new ban has replaced the old
        // one, which had no end. Ended bans are removed before the next input, here a repeated call without an effect.
        directory.now = directory.now + .seconds(60)
        directory.send(DirectoryInput(app: "demo", unban))
        #expect(listedUsers() == names.filter { $0 != "u1300" && $0 != "u1200" })
        #expect(directory.machine.checkInvariants(directory.journal) == [])
    }

    /// Rules: R17.6.
    @Test func `requests that an older version wrote as one row are read, and split into rows at the next change`()
        throws
    {
        var seats = SizeHarness(SeatMachine())
        let info = LiveInfo(liveID: "show", liveOwner: UserInfo(userID: "alice"))
        seats.send(SeatInput(Self.key, .opened(epoch: 1, info: info)))
        // Users with an even number have applied, and those with an odd number are invited.
        let names = (0..<120).map { "u\(1000 + $0)" }
        let expiry = (seats.now + .seconds(60)).milliseconds
        let application = #"{"application":{}}"#
        let invitation = #"{"invitation":{"host":{"avatarURL":"","userID":"alice","userName":""}}}"#
        let requests = names.enumerated().map { index, name in
            let kind = index.isMultiple(of: 2) ? application : invitation
            return #"{"expiresAt":\#(expiry),"guest":{"avatarURL":"","userID":"\#(name)","userName":""},"#
                + #""kind":\#(kind),"seatIndex":-1}"#
        }.joined(separator: ",")
        let oldRow = Array(#"{"requests":{"requests":{"open":[\#(requests)]}}}"#.utf8)
        let rowKey = try #require(SeatKey(text: "requests/demo/show"))
        seats.journal.restore(rowKey, try Wire.decode(SeatRow.self, from: oldRow))

        /// The guests of all open requests, in the order of the machine's reply.
        func listedUsers() -> [String] {
            let effects = seats.send(SeatInput(Self.key, .requests(caller: caller("alice", counter: 1))))
            guard case .reply(let reply)? = effects.last,
                case .success(.seatRequests(let applications, let invitations, _)) = reply.outcome
            else {
                Issue.record("the requests cannot be read")
                return []
            }
            return applications.map(\.guest.userID.text) + invitations.map(\.guest.userID.text)
        }
        /// The names in the order of the machine's reply: applications (even numbers), then invitations (odd numbers).
        func applicationsFirst(_ names: [String]) -> [String] {
            let isInvited = { (name: String) in !(Int(name.dropFirst()) ?? 0).isMultiple(of: 2) }
            return names.filter { !isInvited($0) } + names.filter(isInvited)
        }
        #expect(listedUsers() == applicationsFirst(names))
        #expect(seats.rowCount(of: "requests") == 1, "reading does not split the row")
        let apply = SeatCommand.apply(
            seatIndex: -1, timeoutSeconds: 30, extraInfo: "", caller: self.caller("u2000", counter: 2))
        #expect(seats.send(SeatInput(Self.key, apply)).rejections == [])
        #expect(listedUsers() == applicationsFirst(names + ["u2000"]))
        // The 121 requests fill 3 rows of 50.
        #expect(seats.rowCount(of: "requests") == 3)
        // The 50 users of the first row leave the live, one after the other.
        for (index, name) in names.prefix(50).enumerated() {
            let userGone = SeatCommand.userGone(user: UserID(name))
            seats.send(SeatInput(Self.key, userGone))
            #expect(listedUsers() == applicationsFirst(names.dropFirst(index + 1) + ["u2000"]))
        }
        #expect(seats.machine.checkInvariants(of: seats.journal, at: seats.now) == [])
        seats.noteRows()
        // The application of u2000 expires after 30 s, the requests of the old row after 60 s.
        seats.now = seats.now + .seconds(30)
        #expect(listedUsers() == applicationsFirst(Array(names.dropFirst(50))))
        seats.now = seats.now + .seconds(30)
        #expect(listedUsers() == [])
        #expect(seats.rowCount(of: "requests") == 0)
        #expect(seats.machine.checkInvariants(of: seats.journal, at: seats.now) == [])
    }
}
