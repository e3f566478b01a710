// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds each broken promise about what the app's backend receives.
///
/// The fixture's requests are the events 0 to 10 in order, and at index 6 the question about Bob's five roses.
struct BackendCheckerTests {
    private typealias Fixture = BackendFixture

    @Test func `a backend that got all events in order, and all questions, has no finding`() {
        #expect(Fixture.findings { _ in } == [])
        // Without Kafka's log or without a backend, there is no finding either.
        #expect(Fixture.findings { $0.loggedEvents = [] } == [])
        #expect(Fixture.findings { $0.backend = nil } == [])
    }

    // MARK: Deliveries

    @Test func `an event that never came is found`() {
        let findings = Fixture.findings { $0.backendRequests.remove(at: $0.index(ofEvent: 7)) }
        #expect(findings.first == "R14.5: event 3-7 of concert (seatsChanged) never came to the backend")
        // The change of the seats is missing, too.
        #expect(findings.last?.hasPrefix("R14.20") == true && findings.count == 2)
    }

    @Test func `an event that failed and did not come again is found, and one that came again is not`() {
        let failLastEvent: (inout RoundHistory) -> Void = { history in
            history.backendRequests[history.index(ofEvent: 10)].answer = .failed
        }
        #expect(
            Fixture.findings(failLastEvent) == [
                "R14.5: event 3-10 of concert (roomEnded) failed, and did not come again"
            ])
        #expect(
            Fixture.findings { history in
                failLastEvent(&history)
                var again = history.backendRequests[history.index(ofEvent: 10)]
                again.answer = .accepted
                history.backendRequests.append(again)
            } == [])
    }

    @Test func `events that come in another order are found`() {
        let findings = Fixture.findings { history in
            history.backendRequests.swapAt(history.index(ofEvent: 8), history.index(ofEvent: 9))
        }
        #expect(findings == ["R14.3: event 3-8 of concert came to the backend after 3-9"])
    }

    @Test func `an event that comes before the one before it was taken is found`() {
        let retryEvent5Late: (inout RoundHistory) -> Void = { history in
            // Event 5 fails, and comes again only after event 6.
            let index = history.index(ofEvent: 5)
            let again = history.backendRequests[index]
            history.backendRequests[index].answer = .failed
            history.backendRequests.insert(again, at: history.index(ofEvent: 6) + 1)
        }
        #expect(Fixture.findings(retryEvent5Late) == ["R14.5: event 3-6 of concert came before 3-5 was taken"])
        #expect(
            Fixture.findings { history in
                // Event 5 fails, and comes again before event 6.
                let index = history.index(ofEvent: 5)
                history.backendRequests.insert(history.backendRequests[index], at: index + 1)
                history.backendRequests[index].answer = .failed
            } == [])
        #expect(
            Fixture.findings { history in
                // An event with a late answer counts as taken, because the sender may have read the answer after all.
                history.backendRequests[history.index(ofEvent: 5)].answer = .late
            } == [])
    }

    @Test func `an event that comes again is no finding, and one with another content is`() {
        #expect(Fixture.findings { $0.backendRequests.append($0.backendRequests[4]) } == [])
        let findings = Fixture.findings { history in
            history.backendRequests.append(
                Fixture.event(4, .memberState(isOnline: false, cause: .leave, users: [Fixture.carol])))
        }
        #expect(findings == ["R14.5: event 3-4 of concert came again with another content"])
    }

    @Test func `an event that Kafka does not have, or has with another content, is found`() {
        #expect(
            Fixture.findings { $0.loggedEvents.removeAll { $0.place.offset == 5 } } == [
                "R14.5: event 3-5 of concert (metadataSet) came to the backend, and Kafka has no such event"
            ])
        #expect(
            Fixture.findings { $0.loggedEvents[5].event.at = Timestamp(milliseconds: 1) } == [
                "R14.5: event 3-5 of concert (metadataSet) came to the backend, and Kafka has another one with its id"
            ])
        // The last event may have been written after the log was read.
        #expect(Fixture.findings { _ = $0.loggedEvents.popLast() } == [])
    }

    @Test func `a request that a backend must reject is found`() {
        let findings = Fixture.findings { history in
            history.backendRequests.append(
                BackendRequest(.malformed("its signature is wrong"), .failed, at: Timestamp(milliseconds: 0)))
        }
        #expect(findings == ["R14.1: the backend got a request that it must reject: its signature is wrong"])
    }

    // MARK: Questions

    @Test func `a gift that the backend did not allow is found`() {
        let finding = "R14.7: \"5 × rose of bob\" in concert is in the feed, and the backend did not allow it"
        for answer in [BackendRequest.Answer.rejected, .failed, .late] {
            #expect(Fixture.findings { $0.backendRequests[6] = Fixture.question("q-5", count: 5, answer) } == [finding])
        }
        #expect(Fixture.findings { $0.backendRequests.remove(at: 6) } == [finding])
        // A failed question that is asked again and allowed is no finding.
        #expect(Fixture.findings { $0.backendRequests.insert(Fixture.question("q-5", count: 5, .failed), at: 6) } == [])
    }

    @Test func `a call with two ids, two calls with one, and a wrong price are found`() {
        #expect(
            Fixture.findings { $0.backendRequests.append(Fixture.question("q-6", count: 5)) }
                == ["R14.12: the backend was asked about \"5 × rose of bob\" in concert under two ids"])
        #expect(
            Fixture.findings { $0.backendRequests.append(Fixture.question("q-5", count: 6)) } == [
                "R14.12: the backend was asked about \"6 × rose of bob\" in concert and \"5 × rose of bob\" in concert "
                    + "under one id"
            ])
        #expect(
            Fixture.findings { $0.backendRequests[6] = Fixture.question("q-5", count: 5, coins: 3) } == [
                "R14.7: the backend was asked about \"5 × rose of bob\" in concert for 3 coins instead of 15"
            ])
    }

    // MARK: What the events say

    @Test func `a creation or an end that is missing, double or at the wrong place is found`() {
        #expect(Fixture.findings { $0.removeEvent(0) } == ["R14.15: the backend got 0 creations of concert"])
        #expect(
            Fixture.findings { $0.removeEvent(10) }
                == ["R14.16: the backend got 0 ends of concert, whose feed has 1"])
        let twoEnds = Fixture.findings { $0.copyEvent(10, to: 9) }
        #expect(twoEnds.contains("R14.16: the backend got 2 ends of concert, whose feed has 1"))
        let twoCreations = Fixture.findings { $0.copyEvent(0, to: 1) }
        #expect(twoCreations.contains("R14.15: the backend got 2 creations of concert"))
        #expect(
            Fixture.findings { history in
                let late = Fixture.event(11, .seatsChanged(seats: []))
                history.backendRequests.append(late)
            } == ["R14.3: the backend got seatsChanged of concert after its end"])
        #expect(
            Fixture.findings { history in
                history.replaceEvent(
                    10, by: .roomEnded(info: nil, reason: .endedByHost, statistics: LiveStatistics()))
            } == ["R14.16: the end of concert has other figures at the backend than in its feed"])
    }

    @Test func `a join or leave that was not reported to the backend is found`() {
        let text = "R14.13: the feed of concert shows that carol"
        #expect(
            Fixture.findings { $0.removeEvent(4) }
                == ["\(text) joined (tip 1 about it), and the backend was not told"])
        #expect(
            Fixture.findings { $0.removeEvent(9) } == ["\(text) left (tip 2 about it), and the backend was not told"])
        // Tips that the feed's budget dropped are no finding.
        #expect(
            Fixture.findings { history in
                for number in [Int64(4), 10] {
                    history.replaceItem(number, by: HistoryFixture.stageWithoutBattle(number))
                }
            } == [])
    }

    @Test func `I5 a leave of a user who never left is found`() {
        let findings = Fixture.findings { history in
            history.replaceEvent(
                7, by: .memberState(isOnline: false, cause: .heartbeatInterrupt, users: [HistoryFixture.bob]))
        }
        #expect(findings.contains("I5: the backend was told that bob left concert (heartbeatInterrupt), who never did"))
    }

    @Test func `a change of the metadata that is missing, swapped or wrong is found`() {
        #expect(
            Fixture.findings { $0.removeEvent(5) } == [
                "R14.18: change 1 of the metadata of concert is topic = a in its feed, and topic = b at the backend"
            ])
        #expect(
            Fixture.findings { $0.removeEvent(8) } == [
                "R14.18: change 2 of the metadata of concert is topic = b in its feed, and nothing at the backend"
            ])
        #expect(
            Fixture.findings { $0.replaceEvent(8, by: .metadataSet(values: ["topic": "c"], by: "bob")) } == [
                "R14.18: change 2 of the metadata of concert is topic = b in its feed, and topic = c at the backend"
            ])
    }

    @Test func `a change of the seats that was not reported to the backend is found`() {
        #expect(
            Fixture.findings { $0.removeEvent(6) } == [
                "R14.20: the feed of concert shows carol on the seats (change 1), and the backend was not told"
            ])
        #expect(
            Fixture.findings { $0.removeEvent(7) } == [
                "R14.20: the feed of concert shows nobody on the seats (change 2), and the backend was not told"
            ])
    }

    @Test func `a battle whose events are missing, double or have other scores is found`() {
        #expect(
            Fixture.findings { $0.removeEvent(2) }
                == ["R14.21: of battle b-1 the backend got battleCreated, battleEnded"])
        #expect(
            Fixture.findings { history in for offset in 1...3 { history.removeEvent(Int64(offset)) } }
                == ["R14.21: of battle b-1 the backend got nothing"])
        #expect(
            Fixture.findings { history in
                let side = BattleSide(live: Fixture.live, host: HistoryFixture.bob, score: 8)
                history.replaceEvent(
                    3,
                    by: .battleEnded(
                        battle: HistoryFixture.battle, from: side, to: [], createdAt: Timestamp(milliseconds: 0),
                        startTime: nil, endTime: Timestamp(milliseconds: 9), kind: .timeOver))
            } == ["R14.21: the end of battle b-1 has other scores at the backend than read"])
    }

    // MARK: Evidence

    /// The lines of the shortest history that shows the first finding after a change.
    private static func evidence(_ change: (inout RoundHistory) -> Void) throws -> [String] {
        var history = Fixture.history()
        change(&history)
        let evidence = try #require(HistoryReducer.evidence(of: history).first)
        #expect(evidence.isShortest)
        return evidence.lines
    }

    @Test func `for an event that never came, Kafka's event is shown`() throws {
        let lines = try Self.evidence { $0.backendRequests.remove(at: $0.index(ofEvent: 4)) }
        #expect(lines == ["01:00:00.004 Kafka in concert has event 3-4, memberState enter of carol"])
    }

    @Test func `for events in another order, both are shown`() throws {
        let lines = try Self.evidence { history in
            history.backendRequests.swapAt(history.index(ofEvent: 8), history.index(ofEvent: 9))
        }
        #expect(
            lines == [
                "01:00:00.008 the backend in concert gets event 3-8, metadataSet topic = b, and accepts it",
                "01:00:00.009 the backend in concert gets event 3-9, memberState leave of carol, and accepts it",
            ])
    }

    @Test func `for a gift that was not allowed, only the gift is shown, because no question allowed it`() throws {
        let lines = try Self.evidence { $0.backendRequests[6] = Fixture.question("q-5", count: 5, .rejected) }
        #expect(lines == ["01:00:00.006 alice in concert item 6 of epoch 1: gets the gift \"5 × rose of bob\""])
    }
}
