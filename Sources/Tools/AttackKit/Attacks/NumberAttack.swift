// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An attack by calls whose counts, cursors, offsets, durations, ids, epochs and tickets are extreme numbers.
///
/// Swift traps on overflow, so unchecked arithmetic on such a number would crash the gateway. An example is the rank in
/// a list's cursor, because the gateway adds the number of listed lives to the rank.
package struct NumberAttack: Attack {
    package let name = "number"
    package let summary = "cursors, offsets, times and ids at the ends of their ranges, in calls"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(60)

    package func connectionCount(limit: Int) -> Int { min(limit, 10) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        NumberClient(
            token: setting.makeToken("\(setting.namePrefix)-\(setting.index)"),
            live: setting.honestLives.first?.text ?? "none")
    }
}

/// Numbers with which unchecked arithmetic overflows, and some that are not integers in the usual form.
enum HostileNumbers {
    static let all = [
        // Foundation's JSON decoder crashes the process when it makes an integer of one of the first two.
        "0." + Self.zeros + "9007199254740994e216", "9007199254740994" + Self.zeros + "e-200", "9223372036854775807",
        "9223372036854775806", "-9223372036854775808", "-1", "4294967296", "2147483647",
        "18446744073709551615", "1e308", "0.5", "-0",
    ]
    private static let zeros = String(repeating: "0", count: 200)
}

/// A client that sends one call in each turn: each kind of call with one number, then each kind with the next number.
private struct NumberClient: AttackClient {
    let token: String
    let live: String
    private var writer = CallWriter()
    private var turns = 0
    /// The cursor of the last list that the gateway sent, up to the dot before the cursor's rank.
    ///
    /// Until the gateway has sent a list, this is the beginning of an invented cursor.
    private var cursorBeforeRank = ListCursor(gateway: "gateway-1", snapshot: 1, rank: 0).textBeforeRank

    init(token: String, live: String) {
        self.token = token
        self.live = live
    }

    mutating func opened() -> [AttackAction] { [self.writer.login(self.token)] }

    mutating func replied(_ outcome: Outcome) -> [AttackAction] {
        if case .success(.lives(_, let text)) = outcome, let cursor = ListCursor(text: text) {
            self.cursorBeforeRank = cursor.textBeforeRank
        }
        return []
    }

    mutating func takeTurn() -> [AttackAction] {
        self.turns += 1
        let number = HostileNumbers.all[self.turns / Self.callKinds % HostileNumbers.all.count]
        let cursor = self.cursorBeforeRank + number
        switch self.turns % Self.callKinds {
        case 0: return [self.writer.call("live.list", "{\"count\":1}")]
        case 1: return [self.writer.call("live.list", "{\"cursor\":\"\(cursor)\"}")]
        case 2: return [self.writer.call("live.list", "{\"count\":\(number)}")]
        case 3:
            return [self.writer.call("cohost.candidates", "{\"live\":\"\(self.live)\",\"cursor\":\"\(cursor)\"}")]
        case 4: return [self.writer.call("live.bans", "{\"live\":\"\(self.live)\",\"offset\":\(number)}")]
        case 5:
            return [
                self.writer.call(
                    "live.ban", "{\"live\":\"\(self.live)\",\"users\":[\"eve\"],\"duration\":\(number)}")
            ]
        case 6:
            return [.text("{\"id\":\(number),\"age\":\(number),\"method\":\"live.get\",\"params\":{}}")]
        default:
            let resume =
                "{\"live\":\"\(self.live)\",\"ticket\":\(number),\"position\":{\"epoch\":\(number),"
                + "\"number\":\(number)},\"token\":\"\(number).\(number).\(number)\"}"
            return [
                self.writer.call(
                    "login", "{\"token\":\"\(self.token)\",\"notices\":\"\(number)-\(number)\",\"resume\":\(resume)}")
            ]
        }
    }

    /// The number of different calls.
    private static let callKinds = 8
}
