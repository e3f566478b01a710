// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import GatewayCore

@Suite struct RankingTests {
    private func walk(
        _ ranking: Ranking, _ model: ReadModel, pageSize: Int, category: Int? = nil,
        isAscending: Bool = false, at now: Timestamp = 0,
        between: (Int) -> ReadModel? = { _ in nil }
    ) throws -> [String] {
        var model = model
        var cursor = ""
        var names: [String] = []
        var page = 0
        repeat {
            // The walk keeps its order, whatever is named later.
            let (items, next) = try ranking.page(
                app: Sample.app, cursor: cursor, count: pageSize, isAscending: cursor.isEmpty && isAscending, at: now
            ) {
                model.listEntry($0, category: category)
            }
            names += items.map(\.info.liveID.text)
            cursor = next
            page += 1
            if let changed = between(page) { model = changed }
        } while !cursor.isEmpty
        return names
    }

    @Test func `most viewers come first, then the name decides`() throws {
        var model = ReadModel()
        for (live, total) in [("a", 1), ("b", 5), ("c", 5), ("d", 0)] {
            model.apply(Sample.room(live))
            model.apply(Sample.count(live, total: total))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        #expect(try self.walk(ranking, model, pageSize: 3) == ["b", "c", "a", "d"])
    }

    @Test func `a walk in ascending order is the same one from its end`() throws {
        var model = ReadModel()
        for index in 0..<50 {
            model.apply(Sample.room("r\(index)"))
            model.apply(Sample.count("r\(index)", total: index * 7 % 10))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let descending = try self.walk(ranking, model, pageSize: 3)
        #expect(try self.walk(ranking, model, pageSize: 3, isAscending: true) == descending.reversed())
        #expect(descending.count == 50)
    }

    @Test func `I3 a walk while rooms come, go and change places returns what was live throughout exactly once`() throws
    {
        var random = SeededRandom(seed: 7)
        for round in 0..<50 {
            var model = ReadModel()
            let names = (0..<100).map { "live\($0)" }
            for name in names {
                model.apply(Sample.room(name))
                model.apply(Sample.count(name, total: Int.random(in: 0...20, using: &random)))
            }
            var ranking = Ranking(gateway: "gateway-1")
            ranking.refresh(model.rankingEntries(), at: Timestamp(milliseconds: Int64(round)))
            var ended: Set<String> = []
            var revision: Int64 = 2
            let seen = try self.walk(ranking, model, pageSize: 7, at: Timestamp(milliseconds: Int64(round))) { _ in
                for _ in 0..<3 {
                    let name = names[Int.random(in: 0..<100, using: &random)]
                    revision += 1
                    if Bool.random(using: &random) {
                        ended.insert(name)
                        model.apply(Sample.room(name, revision: revision, ended: .endedByHost))
                    } else {
                        model.apply(Sample.count(name, total: Int.random(in: 0...50, using: &random), at: revision))
                    }
                    model.apply(Sample.room("new\(revision)"))
                }
                ranking.refresh(model.rankingEntries(), at: Timestamp(milliseconds: Int64(round) + revision))
                return model
            }
            #expect(Set(seen).count == seen.count, "nothing twice")
            #expect(Set(names).subtracting(ended).isSubset(of: seen), "nothing left out")
        }
    }

    @Test func `a category filter and hidden rooms leave out, and never repeat`() throws {
        var model = ReadModel()
        for index in 0..<30 {
            model.apply(Sample.room("r\(index)", categories: [index % 3], isVisible: index % 5 != 0))
        }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 0)
        let expected = (0..<30).filter { $0 % 3 == 1 && $0 % 5 != 0 }.map { "r\($0)" }
        #expect(try self.walk(ranking, model, pageSize: 2, category: 1).sorted() == expected.sorted())
    }

    @Test func `a cursor of another gateway, an old one and one that is none are refused`() throws {
        var model = ReadModel()
        for index in 0..<10 { model.apply(Sample.room("r\(index)")) }
        var ranking = Ranking(gateway: "gateway-1")
        ranking.refresh(model.rankingEntries(), at: 1000)
        func page(_ cursor: String, at now: Timestamp) throws(ReplyError) -> String {
            try ranking.page(app: Sample.app, cursor: cursor, count: 2, at: now) { model.listEntry($0, category: nil) }
                .cursor
        }
        let cursor = try page("", at: 1000)
        #expect(cursor == "gateway-1.1000.2")
        #expect(try page(cursor, at: 61_000) == "gateway-1.1000.4")
        for bad in [
            "gateway-2.1000.2", "gateway-1.999.2", "gateway-1.1000.-1", "gateway-1.1000.x", "x", ".", "..",
            "gateway-1.1000", "gateway-1.99999999999999999999.2",
        ] {
            #expect(throws: ReplyError.self) { try page(bad, at: 1000) }
        }
        let error = #expect(throws: ReplyError.self) { try page(cursor, at: 61_001) }
        #expect(error?.code == .cursorExpired)
    }

    @Test func `snapshots are kept for 60 s and never more than the limit`() throws {
        var ranking = Ranking(gateway: "g")
        let entries = (0..<10).map { RankingEntry(key: Sample.key("r\($0)"), totalViewers: $0) }
        ranking.refresh(entries, at: 0)
        let first = try ranking.page(app: Sample.app, cursor: "", count: 1, at: 0) { _ in nil }
        #expect(first.cursor.isEmpty, "all were looked at and none may be shown")
        for second in 1...100 { ranking.refresh(entries, at: Timestamp(milliseconds: Int64(second))) }
        #expect(throws: ReplyError.self) {
            try ranking.page(app: Sample.app, cursor: "g.0.1", count: 1, at: 100) { _ in nil }
        }
    }

    @Test func `before the first snapshot the list is empty, and another app sees nothing`() throws {
        var ranking = Ranking(gateway: "g")
        #expect(try ranking.page(app: Sample.app, cursor: "", count: 5, at: 0) { _ in nil }.items.isEmpty)
        var model = ReadModel()
        model.apply(Sample.room("a"))
        ranking.refresh(model.rankingEntries(), at: 0)
        let page = try ranking.page(app: "other", cursor: "", count: 5, at: 0) { model.listEntry($0, category: nil) }
        #expect(page.items.isEmpty, "I17")
    }
}
