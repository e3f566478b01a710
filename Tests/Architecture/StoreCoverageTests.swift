// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that all events and methods of the Swift SDK's stores, as `docs/api` lists them, are used in tests.
@Suite struct StoreCoverageTests {
    /// The files of tests that wait for events of a real cluster.
    private static let clusterTests = ["Tests/Cluster/StoreClusterTests.swift", "Tests/Cluster/StoreEventTests.swift"]

    /// The enumerations of the events that stores publish.
    private static let eventTypes: Set<String> = [
        "BattleEvent", "CoHostEvent", "GiftEvent", "GuestEvent", "HostEvent", "LikeEvent", "LiveAudienceEvent",
        "LiveListEvent", "LiveSeatEvent", "LoginEvent",
    ]

    /// The names of all events of stores, such as `onLiveEnded`.
    private static func events() throws -> [String] {
        try Repository.text("docs/api/LivePlazaKit.txt").split(separator: "\n").compactMap { line in
            // An event has a line such as `BattleEvent: case onBattleEnded(battleInfo: …`.
            let parts = line.split(separator: " ")
            guard parts.count > 2, parts[1] == "case", Self.eventTypes.contains(String(parts[0].dropLast())) else {
                return nil
            }
            return String(parts[2].prefix { $0 != "(" })
        }
    }

    @Test func `a test with a real cluster waits for each event of the stores`() throws {
        let tests = try Self.clusterTests.map { try Repository.text($0) }.joined()
        let events = try Self.events()
        #expect(events.count >= 39, "most events were not recognized")
        for event in events {
            // A call begins with `waitForEvent("onLiveEnded(`. Its argument may be a raw string, which begins with `#`.
            let isAwaited = tests.contains(try Regex(##"waitForEvent\(#?"\##(event)["(]"##))
            #expect(isAwaited, "no test waits for \(event)")
        }
    }

    @Test func `the list eventTypes has exactly the types of events that stores publish`() throws {
        let publishers = try Repository.text("docs/api/LivePlazaKit.txt").matches(
            of: /PassthroughSubject<(\w+), Never>/)
        let published = Set(publishers.map { String($0.output.1) })
        // A `PlazaEvent` is published by the client itself, not by a store.
        #expect(published.subtracting(["PlazaEvent"]) == Self.eventTypes)
    }

    @Test func `the sample code of an app calls each method of each store`() throws {
        let code = try Repository.text("Tests/Client/AppCode/Swift5/AppCode.swift")
        let methods = try Repository.text("docs/api/LivePlazaKit.txt")
            .matches(of: /(?m)^\w+Store: (?:static )?func (\w+)\(/).map { String($0.output.1) }
        #expect(methods.count > 100, "most methods were not recognized")
        for method in Set(methods) { #expect(code.contains(".\(method)("), "no call of \(method)") }
    }
}
