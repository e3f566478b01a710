// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaModel
import Repository
import Testing

@testable import LoadKit

/// Tests of the cast of `plaza demo --evening` (its lives and users), and of the calls that hosts and users make.
@Suite struct EveningCallTests {
    private let cast = EveningCast.lives

    @Test func `the ids and texts of the cast are valid, and no two users have the same id`() {
        var users: [String] = []
        for live in self.cast {
            #expect(LiveID(checking: live.id) != nil)
            #expect(TextRule.isPlain(live.title, maxBytes: Limits.liveNameBytes))
            // The browser pages have names for six categories, 0 to 5.
            #expect((0...5).contains(live.category))
            users += [live.hostID] + (0..<live.viewerCount).map(live.viewerID)
        }
        #expect(users.allSatisfy { UserID(checking: $0) != nil })
        #expect(Set(users).count == users.count)
    }

    @Test func `every picture that the cast names is served with the pages`() {
        let paths = self.cast.map(\.coverURL) + self.cast.compactMap { $0.product["product-cover"] }
        // There are four covers, and one picture of a product.
        #expect(paths.count == 5)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Repository.root.path + "/clients/web" + path), "\(path)")
        }
    }

    @Test func `a host accepts every application, but a co-host request only from a live it may connect with`() {
        // Ada applies for any seat (index -1). In the co-host requests below, she is the inviter's host.
        let ada = UserInfo(userID: UserID("ada"), userName: "Ada")
        let application = NoticeContent.applicationReceived(
            guest: ada, seatIndex: -1, expiresAt: Timestamp(milliseconds: 1), extraInfo: "")
        #expect(EveningCall(answering: application, live: 0, cast: self.cast)?.method == "seat.acceptApplication")
        /// The notice that a live asks to connect (a co-host request).
        func request(from live: String) -> NoticeContent {
            .coHostRequestReceived(
                inviter: ConnectionMember(live: LiveID(live), host: ada, joinedAt: Timestamp(milliseconds: 1)),
                expiresAt: Timestamp(milliseconds: 1), extensionInfo: "")
        }
        /// Whether the host of the cast's live `index` accepts a request from the live `inviter`.
        func host(ofLive index: Int, acceptsRequestFrom inviter: String) -> Bool {
            EveningCall(answering: request(from: inviter), live: index, cast: self.cast)?.method == "cohost.accept"
        }
        // The first two lives connect with each other only, and the others with any live but these two.
        #expect(host(ofLive: 1, acceptsRequestFrom: self.cast[0].id))
        #expect(!host(ofLive: 1, acceptsRequestFrom: "live-ada"))
        #expect(host(ofLive: 2, acceptsRequestFrom: "live-ada"))
        #expect(!host(ofLive: 2, acceptsRequestFrom: self.cast[0].id))
    }

    @Test func `a score is sent only while a battle runs`() {
        let score = EveningAction(live: 1, user: self.cast[1].hostID, kind: .score(5))
        #expect(EveningCall(score, cast: self.cast, battle: nil) == nil)
        #expect(EveningCall(score, cast: self.cast, battle: BattleID("b1"))?.method == "battle.score")
    }
}
