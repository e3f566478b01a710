// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The stored seat requests of a live: older versions wrote them as one row, newer versions write them as several rows.
@Suite struct OldRequestRowTests {
    private static let key = LiveKey("demo", "show")

    /// The caller of a user's call with this request counter.
    private func caller(_ user: UserID, counter: Int64) -> Caller {
        Caller(
            user: UserInfo(userID: user), role: .user, request: RequestID(session: "s", counter: counter),
            replyTo: "g", ticket: Ticket(100))
    }

    /// Rules: R17.6.
    @Test func `requests that an older version wrote as one row are read, and split into rows at the next change`()
        throws
    {
        var seats = MachineHarness(SeatMachine())
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
        let oldRow = Data(#"{"requests":{"requests":{"open":[\#(requests)]}}}"#.utf8)
        let rowKey = try #require(SeatKey(text: "requests/demo/show"))
        seats.rows.restore(rowKey, try JSONDecoder().decode(SeatRow.self, from: oldRow))

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
        #expect(seats.send(SeatInput(Self.key, apply)).code == .success)
        #expect(listedUsers() == applicationsFirst(names + ["u2000"]))
        // The 121 requests fill 3 rows of 50.
        #expect(seats.rowCount(of: "requests") == 3)
        // The 50 users of the first row leave the live, one after the other.
        for (index, name) in names.prefix(50).enumerated() {
            let userGone = SeatCommand.userGone(user: UserID(name))
            seats.send(SeatInput(Self.key, userGone))
            #expect(listedUsers() == applicationsFirst(names.dropFirst(index + 1) + ["u2000"]))
        }
        #expect(seats.violations == [])
        #expect(try seats.roundTripsThroughStateTopic())
        // The application of u2000 expires after 30 s, the requests of the old row after 60 s.
        seats.now = seats.now + .seconds(30)
        #expect(listedUsers() == applicationsFirst(Array(names.dropFirst(50))))
        seats.now = seats.now + .seconds(30)
        #expect(listedUsers() == [])
        #expect(seats.rowCount(of: "requests") == 0)
        #expect(seats.violations == [])
    }
}
