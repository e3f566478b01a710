// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Inputs of one kind in the order and at the times in which they come.
struct BarrageLoad {
    /// Inputs of one transaction.
    static let batch = 1_000
    static let count = 200_000

    var name: String
    var lives = 500
    /// Senders of each live.
    var senders = 10
    /// Milliseconds between two inputs, of whatever live.
    var gapMilliseconds = 0.05
    /// Whether the target for messages holds.
    var isMessages = false
    /// The command that a caller sends as its input number so and so.
    var command: (Caller, Int) -> BarrageCommand

    static var all: [BarrageLoad] {
        [
            BarrageLoad(name: "spread", isMessages: true, command: Self.text),
            BarrageLoad(
                name: "hot", lives: 1, senders: 1_000, gapMilliseconds: 0.1, isMessages: true, command: Self.text),
            BarrageLoad(name: "custom") { .sendCustom(businessID: "shop", data: "{\"item\":\($1)}", caller: $0) },
            BarrageLoad(name: "repeated") { caller, _ in
                var first = caller
                first.request.counter = 1
                return .sendText(text: "message", extensionInfo: nil, caller: first)
            },
            BarrageLoad(name: "gift") { caller, _ in .sendGift(giftID: "rose", count: 1, receivers: [], caller: caller)
            },
            BarrageLoad(name: "likes") { caller, _ in .sendLikes(count: 5, caller: caller) },
            BarrageLoad(name: "tip") { caller, _ in .tell(content: .audienceJoined(user: caller.user)) },
            BarrageLoad(name: "control") { caller, _ in .tell(content: .adminSet(user: caller.userID)) },
        ]
    }

    /// An app with a gift and five hundred words that no message contains.
    static let settings = AppTable([
        AppRecord(
            app: "demo", revision: 1,
            settings: AppSettings(
                words: (0..<500).map { "forbidden\($0)" },
                gifts: [GiftCategory(categoryID: "all", name: "All", gifts: [Gift(giftID: "rose", name: "Rose")])]))
    ])

    private static func text(_ caller: Caller, _ index: Int) -> BarrageCommand {
        .sendText(text: "message \(index)", extensionInfo: nil, caller: caller)
    }

    func key(_ live: Int) -> LiveKey { LiveKey("demo", LiveID("live-\(live)")) }

    func moment(_ index: Int) -> Moment {
        let now = 1_700_000_000_000 + Int64(Double(index) * self.gapMilliseconds)
        return Moment(now: Timestamp(milliseconds: now), offset: Int64(index))
    }

    /// What makes the lives.
    var openings: [BarrageInput] {
        (0..<self.lives).map { BarrageInput(self.key($0), .opened(epoch: 1, owner: "host")) }
    }

    /// The inputs of these numbers.
    func inputs(_ numbers: Range<Int>) -> [BarrageInput] {
        numbers.map { index in
            let sender = index / self.lives % self.senders
            let caller = Caller(
                user: UserInfo(userID: UserID("user-\(sender)"), userName: "User \(sender)"), role: .user,
                request: RequestID(session: SessionID("session-\(sender)"), counter: Int64(index)),
                replyTo: "gateway-1", ticket: Ticket(1))
            return BarrageInput(self.key(index % self.lives), self.command(caller, index))
        }
    }
}
