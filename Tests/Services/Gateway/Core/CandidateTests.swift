// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Checks which lives are offered to a host as co-host candidates (R8.10, R8.11, R8.12).
@Suite struct CandidateTests {
    private func room(
        _ live: String, voice: Bool = false, isVisible: Bool = true, status: LiveStatus = .running
    ) -> LiveRecord {
        var record = Sample.room(live, isVisible: isVisible)
        record.info.status = status
        record.info.seatTemplate = voice ? 50 : 600
        return record
    }

    private func connect(_ model: inout ReadModel, _ lives: String...) {
        let members = lives.map {
            ConnectionMember(live: LiveID($0), host: UserInfo(userID: "h"), joinedAt: Timestamp(milliseconds: 1))
        }
        for live in lives {
            model.apply(
                StageRecord(
                    app: Sample.app, live: LiveID(live), epoch: 10, revision: 1, seats: [],
                    connection: ConnectionView(id: "c-1", members: members)))
        }
    }

    private func names(_ ranking: Ranking, _ model: ReadModel, for host: LiveRecord) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor = ""
        repeat {
            let (items, next) = try ranking.page(
                app: Sample.app, cursor: cursor, count: Limits.candidatesPage, at: 0
            ) { model.candidate($0, for: host) }
            pages.append(items.map(\.info.liveID.text))
            cursor = next
        } while !cursor.isEmpty
        return pages
    }

    /// Rules: R8.11.
    @Test func `candidates are public unconnected lives of the same kind, without the host's own`() throws {
        var model = ReadModel()
        for record in [
            self.room("own"), self.room("free"), self.room("partner"), self.room("pair1"), self.room("pair2"),
            self.room("voice", voice: true), self.room("hidden", isVisible: false),
            Sample.room("over", ended: .endedByHost),
        ] { model.apply(record) }
        self.connect(&model, "own", "partner")
        self.connect(&model, "pair1", "pair2")
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.names(ranking, model, for: self.room("own")) == [["free"]])
        #expect(try self.names(ranking, model, for: self.room("voice", voice: true)) == [[]])
    }

    /// Rules: R8.12.
    @Test func `a live whose owner is absent is not a candidate`() throws {
        var model = ReadModel()
        for record in [
            self.room("own"), self.room("free"), self.room("left", status: .suspended),
            self.room("planned", status: .scheduled),
        ] { model.apply(record) }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.names(ranking, model, for: self.room("own")).flatMap { $0 } == ["free"])
        var back = self.room("left")
        back.revision = 2
        model.apply(back)
        #expect(try self.names(ranking, model, for: self.room("own")).flatMap { $0 } == ["free", "left"])
    }

    /// Rules: R8.10.
    @Test func `candidates are listed in pages of twenty, most viewers first`() throws {
        var model = ReadModel()
        for number in 0..<45 {
            model.apply(self.room("live\(number)"))
            model.apply(Sample.count("live\(number)", total: 100 - number))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let pages = try self.names(ranking, model, for: self.room("live0"))
        #expect(pages.map(\.count) == [20, 20, 4])
        #expect(pages.flatMap { $0 } == (1..<45).map { "live\($0)" })
    }
}
