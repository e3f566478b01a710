// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds users on two seats (I11), connections that are not symmetric (I12), and walks through
/// the list of lives that miss or repeat one (I3).
struct StageCheckerTests {
    private typealias Fixture = HistoryFixture

    /// The finding about the stage that Alice got as item 3.
    private static func finding(_ invariant: String, _ text: String) -> String {
        "\(invariant): alice in concert, item 3: \(text)"
    }

    /// The findings when the stage of item 3 has these seats and this connection; its battle stays.
    private static func findings(seats: [Seat] = [], connectedWith lives: [LiveID]? = nil) -> [String] {
        Fixture.findings { $0.setStage(seats: seats, connectedLives: lives) }
    }

    private static func seat(_ index: Int, _ user: String?) -> Seat {
        let occupant = user.map { SeatUser(user: UserInfo(userID: UserID($0)), role: .generalUser, live: Fixture.live) }
        return Seat(index: index, occupant: occupant)
    }

    // MARK: Seats

    @Test func `seats with different users have no finding`() {
        #expect(Self.findings(seats: [Self.seat(0, "bob"), Self.seat(1, nil), Self.seat(2, "carol")]) == [])
    }

    @Test func `a user on two seats is found`() {
        let findings = Self.findings(seats: [Self.seat(0, "bob"), Self.seat(1, "carol"), Self.seat(2, "bob")])
        #expect(findings.first == Self.finding("I11", "bob is on two seats"))
        // Eve got the same stage.
        #expect(findings.count == 2)
    }

    @Test func `a seat that is listed twice is found`() {
        let findings = Self.findings(seats: [Self.seat(1, "bob"), Self.seat(1, "carol")])
        #expect(findings.first == Self.finding("I11", "seat 1 is there twice"))
    }

    // MARK: Connections

    @Test func `a connection that all its lives show has no finding`() {
        let findings = Fixture.findings { history in
            history.setStage(connectedLives: [Fixture.live, "other"])
            history.addFeedOfOtherLive(connectedLives: [Fixture.live, "other"])
        }
        #expect(findings == [])
    }

    @Test func `a connection that one of its lives does not show is found`() {
        let findings = Fixture.findings { history in
            history.setStage(connectedLives: [Fixture.live, "other"])
            history.addFeedOfOtherLive(connectedLives: nil)
        }
        #expect(findings == ["I12: concert was connected with other in c-1, and other never showed that"])
    }

    @Test func `a connection that two lives show with different members is found`() {
        let findings = Fixture.findings { history in
            history.setStage(connectedLives: [Fixture.live, "other"])
            history.addFeedOfOtherLive(connectedLives: [Fixture.live, "other", "third"])
        }
        #expect(
            findings == [
                "I12: concert was connected with other in c-1, and other never showed that",
                "I12: other was connected with concert in c-1, and concert never showed that",
            ])
    }

    @Test func `a connection of one live, of ten, with a live twice, or without the live that shows it is found`() {
        let others = (1...9).map { LiveID("live-\($0)") }
        for (lives, text) in [
            ([Fixture.live], "1 lives are connected"),
            ([Fixture.live] + others, "10 lives are connected"),
            ([Fixture.live, "a", "a"], "a is connected twice"),
            (["a", "b"], "it is not in its own connection"),
        ] as [([LiveID], String)] {
            #expect(Self.findings(connectedWith: lives).first == Self.finding("I12", text))
        }
        #expect(Self.findings(connectedWith: [Fixture.live] + others.dropLast()) == [])
    }

    // MARK: The list of lives

    /// The pages of walks, and how often each has the fixture's live.
    private static let walks: [(pages: [[LiveID]], count: Int)] = [
        ([["a", "b"], ["concert"]], 1), ([["a", "b"], ["c"]], 0), ([["concert", "a"], ["b", "concert"]], 2),
    ]

    @Test(arguments: Self.walks)
    func `a walk through the list that misses or repeats a live is found`(pages: [[LiveID]], count: Int) {
        let findings = Fixture.findings { history in
            history.livesOfAllWalks = [Fixture.live]
            history.listWalks = [ListWalk(name: "walk 1", pages: [["concert", "a"], ["b"]])]
            history.listWalks.append(ListWalk(name: "walk 2", pages: pages))
        }
        #expect(findings == (count == 1 ? [] : ["I3: walk 2 of the list has concert \(count) times"]))
    }

    @Test func `the shortest history of a wrong walk is the walk, and that of a wrong seat is its stage`() throws {
        var history = Fixture.history()
        history.livesOfAllWalks = [Fixture.live]
        history.listWalks = [
            ListWalk(name: "walk 1", pages: [["concert"], ["a"]]),
            ListWalk(name: "walk 2", pages: [["a", "b"], ["c"]], at: Timestamp(milliseconds: 1000)),
        ]
        let walk = try #require(HistoryReducer.evidence(of: history).first)
        #expect(walk.lines == ["00:00:01.000 walk 2 gets the pages [a, b] [c]"])
        history = Fixture.history()
        history.setStage(seats: [Self.seat(0, "bob"), Self.seat(1, "bob")])
        let seats = try #require(HistoryReducer.evidence(of: history).first)
        #expect(seats.lines.count == 1 && seats.lines[0].contains("bob on seat 0 and bob on seat 1"))
    }
}

extension RoundHistory {
    /// Changes the seats and the connection of the stage that Alice and Eve got as item 3.
    fileprivate mutating func setStage(seats: [Seat] = [], connectedLives lives: [LiveID]? = nil) {
        guard case .item(_, _, .stage(var record, let events), _) = self.eveFeed.steps[self.eveFeed.index(ofItem: 3)]
        else {
            Issue.record("the fixture's item 3 is no stage")
            return
        }
        record.seats = seats
        record.connection = Self.connection(lives)
        self.replaceItem(3, by: HistoryFixture.item(3, .stage(record: record, events: events)))
    }

    /// Adds the feed of a viewer of another live, which has one stage, with a connection or without.
    fileprivate mutating func addFeedOfOtherLive(connectedLives lives: [LiveID]?) {
        let live: LiveID = "other"
        let record = StageRecord(
            app: AppID("demo"), live: live, epoch: 1, revision: 1, seats: [], connection: Self.connection(lives))
        self.feeds.append(
            FeedHistory(
                client: "otto", live: live, steps: [HistoryFixture.item(1, .stage(record: record, events: []))]))
    }

    private static func connection(_ lives: [LiveID]?) -> ConnectionView? {
        lives.map { lives in
            let members = lives.map {
                ConnectionMember(live: $0, host: HistoryFixture.bob, joinedAt: Timestamp(milliseconds: 0))
            }
            return ConnectionView(id: ConnectionID("c-1"), members: members)
        }
    }
}
