// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Listings of lives, page by page, from a snapshot of the ranking.
///
/// A cursor is `GATEWAY.TIME.RANK`: the snapshot's time in milliseconds, and the rank of the next page's first live,
/// counted from 0. In an ascending listing the rank has the prefix `a`.
@Suite struct RankingTests {
    /// Returns the names of all lives of a listing, page by page.
    ///
    /// `afterPage` is called after each page; it may return a changed model for the next pages.
    private func listAll(
        _ ranking: Ranking, _ model: ReadModel, pageSize: Int, category: Int? = nil,
        isAscending: Bool = false, at now: MonotonicTime = 0,
        afterPage: () -> ReadModel? = { nil }
    ) throws -> [String] {
        var model = model
        var cursor = ""
        var names: [String] = []
        repeat {
            // Only the call for the first page names the order. The cursor of a later page contains the order.
            let (items, next) = try ranking.page(
                app: Sample.app, cursor: cursor, count: pageSize, isAscending: cursor.isEmpty && isAscending, at: now
            ) {
                model.listEntry($0, category: category)
            }
            names += items.map(\.info.liveID.text)
            cursor = next
            if let changed = afterPage() { model = changed }
        } while !cursor.isEmpty
        return names
    }

    /// Rules: R3.48.
    @Test func `lives are sorted by total viewers, then by name`() throws {
        var model = ReadModel()
        for (live, totalViewers) in [("a", 1), ("b", 5), ("c", 5), ("d", 0)] {
            model.apply(Sample.live(live))
            model.apply(Sample.count(live, total: totalViewers))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.listAll(ranking, model, pageSize: 3) == ["b", "c", "a", "d"])
    }

    @Test(arguments: ["1", "2", "3", "\(Int.max)", "\(Int.max - 1)", "a\(Int.max)", "\(Int64(Int32.max) + 1)"])
    func `a cursor beyond the end of the list gives an empty last page, and a cursor with the last rank gives one live`(
        rank: String
    ) throws {
        var model = ReadModel()
        for name in ["a", "b"] { model.apply(Sample.live(name)) }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let first = try ranking.page(app: Sample.app, cursor: "", count: 1, at: 0) {
            model.listEntry($0, category: nil)
        }
        // The cursor is the first page's cursor with another rank. The two lives have the ranks 0 and 1.
        let cursor = first.cursor.split(separator: ".").dropLast().joined(separator: ".") + ".\(rank)"
        let page = try ranking.page(app: Sample.app, cursor: cursor, count: 50, at: 0) {
            model.listEntry($0, category: nil)
        }
        #expect(page.items.count == (rank == "1" ? 1 : 0))
        #expect(page.cursor.isEmpty)
    }

    /// Rules: R3.49.
    @Test func `an ascending listing has the lives of the descending one in reverse`() throws {
        var model = ReadModel()
        for index in 0..<50 {
            model.apply(Sample.live("live\(index)"))
            // The totals are 0 to 9, each five times, so many lives have the same total.
            model.apply(Sample.count("live\(index)", total: index * 7 % 10))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let descending = try self.listAll(ranking, model, pageSize: 3)
        #expect(try self.listAll(ranking, model, pageSize: 3, isAscending: true) == descending.reversed())
        #expect(descending.count == 50)
    }

    /// Rules: R3.47.
    @Test func `I3 although lives start, end and change ranks, a listing has each live that runs throughout once`()
        throws
    {
        var random = SeededRandom(seed: 7)
        // Each round lists the lives of a snapshot that is made at the time of the round's number.
        for round in 0..<50 {
            var model = ReadModel()
            let names = (0..<100).map { "live\($0)" }
            for name in names {
                model.apply(Sample.live(name))
                model.apply(Sample.count(name, total: Int.random(in: 0...20, using: &random)))
            }
            var ranking = Ranking(gateway: "gateway-1")
            ranking.refresh(model.rankingEntries(), at: MonotonicTime(milliseconds: Int64(round)))
            var ended: Set<String> = []
            // Each change has a revision of its own, which is also the time of a count.
            var revision: Int64 = 2
            let listed = try self.listAll(ranking, model, pageSize: 7, at: MonotonicTime(milliseconds: Int64(round))) {
                // After each page three lives end or get another count, and three new lives start.
                for _ in 0..<3 {
                    let name = names[Int.random(in: 0..<100, using: &random)]
                    revision += 1
                    if Bool.random(using: &random) {
                        ended.insert(name)
                        model.apply(Sample.live(name, revision: revision, ended: .endedByHost))
                    } else {
                        model.apply(Sample.count(name, total: Int.random(in: 0...50, using: &random), at: revision))
                    }
                    model.apply(Sample.live("new\(revision)"))
                }
                ranking.refresh(model.rankingEntries(), at: MonotonicTime(milliseconds: Int64(round) + revision))
                return model
            }
            #expect(Set(listed).count == listed.count, "no live is listed twice")
            #expect(Set(names).subtracting(ended).isSubset(of: listed), "no running live is left out")
        }
    }

    /// Rules: R3.51.
    @Test func `a listing of one category leaves out other categories and hidden lives, and has each live once`() throws
    {
        var model = ReadModel()
        // Every third live has category 1, and every fifth one is hidden.
        for index in 0..<30 {
            model.apply(Sample.live("live\(index)", categories: [index % 3], isVisible: index % 5 != 0))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let expected = (0..<30).filter { $0 % 3 == 1 && $0 % 5 != 0 }.map { "live\($0)" }
        #expect(try self.listAll(ranking, model, pageSize: 2, category: 1).sorted() == expected.sorted())
    }

    @Test func `a malformed or expired cursor, or one of another gateway, is rejected`() throws {
        var model = ReadModel()
        for index in 0..<10 { model.apply(Sample.live("live\(index)")) }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 1000)
        func page(_ cursor: String, at now: MonotonicTime) throws(ReplyError) -> String {
            try ranking.page(app: Sample.app, cursor: cursor, count: 2, at: now) { model.listEntry($0, category: nil) }
                .cursor
        }
        let cursor = try page("", at: 1000)
        #expect(cursor == "gateway-1.1000.2")
        #expect(
            try page(cursor, at: 61_000) == "gateway-1.1000.4",
            "when its snapshot is 60 s old, a cursor is still valid")
        for invalidCursor in [
            "gateway-2.1000.2", "gateway-1.999.2", "gateway-1.1000.-1", "gateway-1.1000.x", "x", ".", "..",
            "gateway-1.1000", "gateway-1.99999999999999999999.2",
        ] {
            #expect(throws: ReplyError.self) { try page(invalidCursor, at: 1000) }
        }
        let error = #expect(throws: ReplyError.self, "after more than 60 s the cursor must be expired") {
            try page(cursor, at: 61_001)
        }
        #expect(error?.code == .cursorExpired)
    }

    @Test func `the number of stored snapshots is limited`() throws {
        var ranking = Ranking(gateway: "g")
        let entries = (0..<10).map { RankingEntry(key: Sample.key("live\($0)"), totalViewers: $0) }
        ranking.refresh(entries, at: 0)
        // The closure returns the entry of a live, or nil to hide the live. All lives are hidden here, so there is no
        // second page.
        let first = try ranking.page(app: Sample.app, cursor: "", count: 1, at: 0) { _ in nil }
        #expect(first.cursor.isEmpty)
        for time in 1...100 { ranking.refresh(entries, at: MonotonicTime(milliseconds: Int64(time))) }
        // The snapshot of time 0 is only 100 ms old. But 100 newer snapshots were made, and only 20 are stored. So a
        // cursor of the snapshot of time 0 is rejected.
        #expect(throws: ReplyError.self) {
            try ranking.page(app: Sample.app, cursor: "g.0.1", count: 1, at: 100) { _ in nil }
        }
    }

    @Test func `the list is empty before the first snapshot and for another app`() throws {
        var ranking = Ranking(gateway: "g")
        #expect(try ranking.page(app: Sample.app, cursor: "", count: 5, at: 0) { _ in nil }.items.isEmpty)
        var model = ReadModel()
        model.apply(Sample.live("a"))
        ranking.refresh(model.rankingEntries(), at: 0)
        let page = try ranking.page(app: "other", cursor: "", count: 5, at: 0) { model.listEntry($0, category: nil) }
        #expect(page.items.isEmpty, "I17: another app does not see the live")
    }
}
