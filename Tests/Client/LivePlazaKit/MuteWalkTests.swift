// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// The walk through the pages of a live's mutes, while mutes begin and end.
@Suite struct MuteWalkTests {
    /// The server's list: the users in the order of their ids.
    private static func users(_ count: Int) -> [String] { (0..<count).map { "user-\($0 + 1000)" } }

    private static func page(_ users: [String], offset: Int) -> SanctionPage {
        let items = users.dropFirst(offset).prefix(MuteWalk.mutesPerPage)
        let end = offset + items.count
        return SanctionPage(
            items: items.map { Sanction(user: UserID($0), until: nil, reason: "", by: UserID("alice")) },
            nextOffset: end < users.count ? end : 0)
    }

    /// Walks through a list that `change` changes after each page.
    ///
    /// - Returns: the users of the result, and the number of pages that were read.
    private static func walk(
        _ users: [String], maxCount: Int = 1000, change: (Int, inout [String]) -> Void = { _, _ in }
    ) -> (users: [String], pageCount: Int) {
        var (walk, users, pageCount) = (MuteWalk(maxCount: maxCount), users, 0)
        while let offset = walk.offset {
            walk.received(Self.page(users, offset: offset))
            pageCount += 1
            change(pageCount, &users)
        }
        return (walk.mutes.items.map(\.user.text), pageCount)
    }

    @Test(arguments: [0, 1, 99, 100, 101, 199, 250, 1000, 1500])
    func `a list that does not change is read once, up to the maximum`(count: Int) {
        let result = Self.walk(Self.users(count))
        #expect(result.users == Array(Self.users(count).prefix(1000)))
        #expect(result.pageCount <= count / (MuteWalk.mutesPerPage - 1) + 1)
    }

    /// Rules: R4.19.
    @Test(arguments: [1, 2, 9, 10, 50, 100])
    func `no mute is missed when others end during the walk`(endedCount: Int) {
        let all = Self.users(350)
        let result = Self.walk(all) { pageCount, users in
            if pageCount == 1 { users.removeFirst(endedCount) }
        }
        #expect(Set(result.users).isSuperset(of: all.dropFirst(endedCount)))
        #expect(result.users == result.users.sorted() && Set(result.users).count == result.users.count)
    }

    @Test func `no mute is listed twice when others begin during the walk`() {
        let all = Self.users(250)
        let result = Self.walk(all) { pageCount, users in
            if pageCount == 1 { users.insert(contentsOf: ["a", "b", "c"], at: 0) }
        }
        #expect(result.users == all)
    }

    @Test func `a list that changes all the time ends the walk after some pages`() {
        let result = Self.walk(Self.users(3000)) { _, users in users.removeFirst(100) }
        #expect(result.pageCount <= 25)
    }

    @Test func `a viewer reads one page`() {
        #expect(Self.walk(Self.users(250), maxCount: MuteWalk.mutesPerPage).pageCount == 1)
    }
}
