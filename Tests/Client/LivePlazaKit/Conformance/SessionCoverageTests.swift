// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import Repository
import Testing

/// Whether the sessions of `clients/conformance/sessions.json` call every method of every store.
///
/// The methods are those of `docs/api/LivePlazaKit.txt`, which `PublicAPITests` compares with the sources.
@Suite struct SessionCoverageTests {
    /// The stores by the names that the page of the API has for them.
    private static let storeNames = [
        "LoginStore": "login", "LiveListStore": "liveList", "LiveAudienceStore": "audience", "BarrageStore": "barrage",
        "LiveSeatStore": "seat", "CoGuestStore": "coGuest", "CoHostStore": "coHost", "BattleStore": "battle",
        "GiftStore": "gift", "LikeStore": "like", "LiveSummaryStore": "summary", "DeviceStore": "device",
    ]

    /// The methods of all stores, as `store.method`.
    private static func storeMethods() throws -> Set<String> {
        var methods: Set<String> = []
        for line in try Repository.text("docs/api/LivePlazaKit.txt").split(separator: "\n") {
            let parts = line.split(separator: ": func ", maxSplits: 1)
            guard parts.count == 2, parts[0].hasSuffix("Store") else { continue }
            let store = try #require(Self.storeNames[String(parts[0])], "\(parts[0]) is no known store")
            methods.insert("\(store).\(parts[1].prefix { $0 != "(" })")
        }
        return methods
    }

    @Test func `each method of each store is called in a session, or is listed with the reason why it is not`() throws {
        let file = try SessionFile()
        let methods = try Self.storeMethods()
        #expect(methods.count > 70)
        let called = file.sessions.reduce(into: Set()) { $0.formUnion($1.calledMethods) }
        let uncalled = Set(file.uncalledMethods)
        for method in methods {
            let store = method.prefix { $0 != "." }
            let isListed = uncalled.contains(method) || uncalled.contains("\(store).*")
            let message: Comment = "\(method) must be either in a session or in the list of uncalled methods"
            #expect(called.contains(method) != isListed, message)
        }
        for method in called.union(uncalled.filter { !$0.hasSuffix(".*") }) {
            #expect(methods.contains(method), "no store has \(method)")
        }
    }
}
