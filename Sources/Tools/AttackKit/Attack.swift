// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One kind of attack: how many connections it opens, and what each of them sends.
package protocol Attack: Sendable {
    /// The name by which the option `--attack` of `plaza attack` selects the attack.
    var name: String { get }
    /// A one-line description of what the attack tries.
    var summary: String { get }
    /// The port and protocol of the gateway that the attack uses.
    var channel: AttackChannel { get }
    /// The interval at which every client's `takeTurn()` is called; nil if the clients take no turns.
    var turnInterval: Duration? { get }
    /// Whether each connection gets a small receive buffer from the system, as if its network were slow.
    var readsSlowly: Bool { get }
    /// The bytes by which a gateway's memory may grow in addition to `AttackVerdict.memoryLimit`.
    ///
    /// It is above 0 for an attack that makes the gateway keep data up to a limit of the gateway's settings.
    var allowedBytes: Int { get }
    /// The number of connections that the attack keeps open.
    ///
    /// - Parameter limit: the maximum, given by the option `--connections`.
    /// - Returns: a number up to `limit`.
    func connectionCount(limit: Int) -> Int
    /// Makes the client that decides what one connection sends.
    ///
    /// When the gateway closes a connection, the attack opens another one, with a new client.
    func makeClient(_ setting: AttackClientSetting) -> any AttackClient
}

extension Attack {
    package var readsSlowly: Bool { false }
    package var allowedBytes: Int { 0 }
}

/// The port and protocol of an attack.
package enum AttackChannel: Hashable, Sendable {
    /// Bytes to the HTTP port.
    case http
    /// Bytes to the WebSocket port; the attack itself writes the handshake, or a part of it.
    case handshake
    /// Frames on a WebSocket whose handshake has succeeded.
    case webSocket
}

/// The parameters of one connection of an attack.
package struct AttackClientSetting: Sendable {
    /// The index of the connection in the attack; a replacement gets the index of the connection that it replaces.
    package var index: Int
    /// How many earlier connections had this index: 0 for the first one, 1 for its replacement.
    package var attempt: Int
    /// The beginning of the names of the client's users and lives, different in each attack and run.
    package var namePrefix: String
    /// A random number generator, seeded differently for each connection.
    package var random: SeededRandom
    /// The number of partitions of each topic.
    package var partitions: Int
    /// The app that is attacked.
    package var app: AppID
    /// The lives of the honest clients.
    package var honestLives: [LiveID]
    /// Makes a token for a user.
    package var makeToken: @Sendable (_ user: String) -> String
}

/// Decides what one connection sends, without IO, so that tests need no gateway.
///
/// Each method returns what the connection sends next.
package protocol AttackClient {
    /// What the connection sends first; called when the connection is open and its handshake, if any, is complete.
    mutating func opened() -> [AttackAction]
    /// What the connection sends when the gateway has replied to a call with this outcome.
    mutating func replied(_ outcome: Outcome) -> [AttackAction]
    /// What the connection sends in a turn; called at each interval `Attack.turnInterval`.
    mutating func takeTurn() -> [AttackAction]
    /// The calls that remove what the client has created, such as a live; called when the attack ends.
    mutating func cleanUp() -> [AttackAction]
}

extension AttackClient {
    package mutating func replied(_ outcome: Outcome) -> [AttackAction] { [] }
    package mutating func takeTurn() -> [AttackAction] { [] }
    package mutating func cleanUp() -> [AttackAction] { [] }
}

/// Something that a connection of an attack sends or does.
package enum AttackAction: Hashable, Sendable {
    /// These bytes as they are.
    case raw([UInt8])
    /// A masked text frame.
    case text(String)
    /// A masked ping without a payload.
    case ping
    /// From now on, the connection reads nothing; the client gets no further replies.
    case stopReading

    /// The bytes of a text as they are.
    static func raw(_ text: String) -> AttackAction { .raw(Array(text.utf8)) }
}

/// Makes the text frames of one connection's calls, with ids that count up from 1.
struct CallWriter {
    private var id = 0

    /// A call's text frame.
    ///
    /// - Parameters:
    ///   - method: the method's name.
    ///   - params: the JSON of its parameters.
    /// - Returns: the frame.
    mutating func call(_ method: String, _ params: String) -> AttackAction {
        self.id += 1
        return .text("{\"id\":\(self.id),\"method\":\"\(method)\",\"params\":\(params)}")
    }

    /// A login with a new session.
    mutating func login(_ token: String) -> AttackAction { self.call("login", "{\"token\":\"\(token)\"}") }
}
