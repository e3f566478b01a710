// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The candidates: lives that are offered to a host for co-hosting (R8.10, R8.11, R8.12 in docs/RULES.md).
@Suite struct CandidateTests {
    /// The record of a live that is voice or video, public or hidden, and has this status.
    private func live(
        _ name: String, isVoice: Bool = false, isVisible: Bool = true, status: LiveStatus = .running
    ) -> LiveRecord {
        var record = Sample.live(name, isVisible: isVisible)
        record.info.status = status
        // A live with seat template 50 is a voice live, one with template 600 a video live.
        record.info.seatTemplate = isVoice ? 50 : 600
        return record
    }

    /// Connects the lives with each other, so that they co-host.
    private func connectLives(_ model: inout ReadModel, _ lives: String...) {
        let members = lives.map {
            ConnectionMember(live: LiveID($0), host: UserInfo(userID: "host"), joinedAt: Timestamp(milliseconds: 1))
        }
        for live in lives {
            model.apply(
                StageRecord(
                    app: Sample.app, live: LiveID(live), epoch: 10, revision: 1, seats: [],
                    connection: ConnectionView(id: "c-1", members: members)))
        }
    }

    /// Returns the names of the candidates that the host of `ownLive` is offered, page by page.
    private func candidatePages(_ ranking: Ranking, _ model: ReadModel, for ownLive: LiveRecord) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor = ""
        repeat {
            let (items, next) = try ranking.page(
                app: Sample.app, cursor: cursor, count: Limits.candidatesPage, at: 0
            ) { model.candidate($0, for: ownLive) }
            pages.append(items.map(\.info.liveID.text))
            cursor = next
        } while !cursor.isEmpty
        return pages
    }

    /// Rules: R8.11.
    @Test func `candidates are public unconnected lives of the same kind, except the host's own live`() throws {
        var model = ReadModel()
        for record in [
            self.live("own"), self.live("free"), self.live("partner"), self.live("pair1"), self.live("pair2"),
            self.live("voice", isVoice: true), self.live("hidden", isVisible: false),
            Sample.live("over", ended: .endedByHost),
        ] { model.apply(record) }
        self.connectLives(&model, "own", "partner")
        self.connectLives(&model, "pair1", "pair2")
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.candidatePages(ranking, model, for: self.live("own")) == [["free"]])
        #expect(
            try self.candidatePages(ranking, model, for: self.live("voice", isVoice: true)) == [[]],
            "there is no other voice live")
    }

    /// Rules: R8.12.
    @Test func `a live that is suspended or only scheduled, because its owner is absent, is not a candidate`() throws {
        var model = ReadModel()
        for record in [
            self.live("own"), self.live("free"), self.live("suspended", status: .suspended),
            self.live("scheduled", status: .scheduled),
        ] { model.apply(record) }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.candidatePages(ranking, model, for: self.live("own")).flatMap { $0 } == ["free"])

        // The owner of the live "suspended" comes back, so the status is `running` again.
        var resumedLive = self.live("suspended")
        resumedLive.revision = 2
        model.apply(resumedLive)
        #expect(try self.candidatePages(ranking, model, for: self.live("own")).flatMap { $0 } == ["free", "suspended"])
    }

    /// Rules: R8.10.
    @Test func `candidates are listed in pages of twenty, those with most viewers in total first`() throws {
        var model = ReadModel()
        for number in 0..<45 {
            model.apply(self.live("live\(number)"))
            model.apply(Sample.count("live\(number)", total: 100 - number))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let pages = try self.candidatePages(ranking, model, for: self.live("live0"))
        #expect(pages.map(\.count) == [20, 20, 4], "44 candidates: 45 lives without the host's own")
        #expect(pages.flatMap { $0 } == (1..<45).map { "live\($0)" })
    }
}
