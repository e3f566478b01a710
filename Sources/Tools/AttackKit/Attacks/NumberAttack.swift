// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Numbers at the ends of their ranges, wherever a call takes one.
///
/// A gateway that adds to the rank in a list's cursor without a check would crash, because Swift traps on overflow.
package struct NumberAttack: Attack {
    package let name = "number"
    package let summary = "cursors, offsets, times and ids at the ends of their ranges, in calls"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(60)

    package func connections(limit: Int) -> Int { min(limit, 10) }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        NumberClient(
            token: setting.token("\(setting.name)-\(setting.index)"), live: setting.honestLives.first?.text ?? "none")
    }
}

/// Numbers with which unchecked arithmetic overflows.
enum HostileNumbers {
    static let all = [
        "9223372036854775807", "9223372036854775806", "-9223372036854775808", "-1", "4294967296", "2147483647",
        "18446744073709551615", "1e308", "0.5", "-0",
    ]
}

private struct NumberClient: AttackClient {
    let token: String
    let live: String
    private var writer = CallWriter()
    private var turns = 0
    /// The cursor of the last list, without its rank.
    private var cursor: String?

    init(token: String, live: String) {
        self.token = token
        self.live = live
    }

    mutating func opened() -> [AttackBytes] { [self.writer.login(self.token)] }

    mutating func replied(_ outcome: Outcome) -> [AttackBytes] {
        if case .success(.lives(_, let cursor)) = outcome, let dot = cursor.lastIndex(of: ".") {
            self.cursor = String(cursor[...dot])
        }
        return []
    }

    mutating func takeTurn() -> [AttackBytes] {
        self.turns += 1
        let number = HostileNumbers.all[self.turns / Self.kinds % HostileNumbers.all.count]
        let cursor = self.cursor.map { $0 + number } ?? "gateway-1.1.\(number)"
        switch self.turns % Self.kinds {
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

    private static let kinds = 8
}
