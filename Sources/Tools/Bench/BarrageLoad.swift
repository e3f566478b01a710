// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// A sequence of inputs of one kind, with their times.
struct BarrageLoad {
    /// The number of inputs in one batch, after which the rows are committed.
    static let batchSize = 1_000
    /// The number of inputs in one round.
    static let inputCount = 200_000

    var name: String
    /// The number of lives; consecutive inputs go to consecutive lives.
    var lives = 500
    /// The number of senders in each live.
    var senders = 10
    /// Milliseconds between two consecutive inputs of the whole load.
    var intervalMilliseconds = 0.05
    /// Whether the inputs are messages, to which the target applies.
    var isMessages = false
    /// Makes the command that a caller sends as the input with this index.
    var command: (_ caller: Caller, _ index: Int) -> BarrageCommand

    /// All loads; those named `tip` and `control` each publish items of the feed class of that name.
    static var all: [BarrageLoad] {
        [
            BarrageLoad(name: "spread", isMessages: true, command: Self.text),
            // One busy live with many senders.
            BarrageLoad(
                name: "hot", lives: 1, senders: 1_000, intervalMilliseconds: 0.1, isMessages: true, command: Self.text),
            BarrageLoad(name: "custom") { caller, index in
                .sendCustom(businessID: "shop", data: "{\"item\":\(index)}", caller: caller)
            },
            BarrageLoad(name: "repeated") { caller, _ in
                // Every input of a sender repeats its first request.
                var firstRequest = caller
                firstRequest.request.counter = 1
                return .sendText(text: "message", extensionInfo: nil, caller: firstRequest)
            },
            BarrageLoad(name: "gift") { caller, _ in .sendGift(giftID: "rose", count: 1, receivers: [], caller: caller)
            },
            BarrageLoad(name: "likes") { caller, _ in .sendLikes(count: 5, caller: caller) },
            BarrageLoad(name: "tip") { caller, _ in .publish(content: .audienceJoined(user: caller.user)) },
            BarrageLoad(name: "control") { caller, _ in .publish(content: .adminSet(user: caller.userID)) },
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

    /// The time and offset of an input.
    func moment(_ index: Int) -> Moment {
        let now = firstInputMilliseconds + Int64(Double(index) * self.intervalMilliseconds)
        return Moment(now: Timestamp(milliseconds: now), offset: Int64(index))
    }

    /// The inputs that open the lives, which are not measured.
    var openings: [BarrageInput] {
        (0..<self.lives).map { BarrageInput(self.key($0), .opened(epoch: 1, owner: "host")) }
    }

    /// The inputs with these indexes.
    func inputs(_ indexes: Range<Int>) -> [BarrageInput] {
        indexes.map { index in
            let sender = index / self.lives % self.senders
            let caller = Caller(
                user: UserInfo(userID: UserID("user-\(sender)"), userName: "User \(sender)"), role: .user,
                request: RequestID(session: SessionID("session-\(sender)"), counter: Int64(index)),
                replyTo: "gateway-1", ticket: Ticket(1))
            return BarrageInput(self.key(index % self.lives), self.command(caller, index))
        }
    }
}
