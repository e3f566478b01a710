// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

let app: AppID = "demo"
let live: LiveID = "show"
let key = LiveKey(app, live)
let gateway: GatewayID = "gateway-1"
let alice = UserInfo(userID: "alice", userName: "Alice")

/// A directory with one partition, to which tests send inputs directly.
///
/// The epoch of a live is the offset of its `open`. The revision of the live is the offset of the input that changed
/// the live last.
typealias DirectoryHarness = MachineHarness<DirectoryMachine>

extension DirectoryHarness {
    init() { self.init(DirectoryMachine(policies: Policies())) }

    /// Handles the due rows, then one input, and commits; returns the effects.
    mutating func send(_ command: DirectoryCommand) -> [Effect] { self.send(DirectoryInput(app: app, command)) }

    /// Sends an input, then the commands that the directory sends to itself because of that input.
    ///
    /// - Returns: the effects of all these inputs, without the commands to the directory.
    mutating func sendWithFollowUps(_ command: DirectoryCommand) -> [Effect] {
        var pending = [command]
        var otherEffects: [Effect] = []
        while !pending.isEmpty {
            for effect in self.send(pending.removeFirst()) {
                if case .directory(let input, _) = effect {
                    pending.append(input.command)
                } else {
                    otherEffects.append(effect)
                }
                if case .connection(let input) = effect, case .ended(let live, let ending) = input.command {
                    // In production the end passes from machine to machine. The last of them, the fan-out,
                    // reports `closed` to the directory and replies to the caller. Here both happen at once.
                    pending.append(.closed(live: live, epoch: ending.epoch))
                    if let caller = ending.caller { otherEffects.append(Self.statisticsReply(to: caller)) }
                }
                if case .barrage(let input) = effect, case .repeatEnding(let caller) = input.command {
                    otherEffects.append(Self.statisticsReply(to: caller))
                }
            }
        }
        return otherEffects
    }

    /// The fan-out's reply to the caller who ended the live; here all figures are 0.
    static func statisticsReply(to caller: Caller) -> Effect {
        .success(.statistics(statistics: LiveStatistics()), to: caller, app: app)
    }

    /// A directory in which alice has created and owns the live `show`, with her call 1.
    ///
    /// The create is input 1, its follow-up `open` is input 2: the live has epoch 2 and revision 2.
    static func withLive(_ changes: LiveChanges = LiveChanges()) -> DirectoryHarness {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(
            .create(live: live, changes: changes, owner: alice, caller: user("alice", call: 1, ticket: nil)))
        return directory
    }

    /// Makes `admin` an admin by alice's call number `counter`; presence verifies that the user is in the live.
    mutating func makeAdmin(_ admin: UserID, call counter: Int64) {
        let caller = user("alice", call: counter)
        _ = self.send(.setAdmin(live: live, user: admin, caller: caller))
        _ = self.send(.adminMembershipVerified(live: live, user: admin, caller: caller))
    }

    /// The row of the live `show`.
    var liveRow: LiveRow? {
        if case .live(let row)? = self.rows[.live(key)] { row } else { nil }
    }
}

/// The caller of call number `counter` in the user's only session.
///
/// A call with the number of an earlier call is a repetition of that call. By default the caller has joined the live;
/// without a ticket (nil) the caller has not.
func user(_ id: UserID, call counter: Int64, ticket: Int64? = 100) -> Caller {
    Caller(
        user: id == alice.userID ? alice : UserInfo(userID: id), role: .user,
        request: RequestID(session: SessionID("s-\(id)"), counter: counter), replyTo: gateway,
        ticket: ticket.map { Ticket($0) })
}

/// The caller of call number `counter` of the app's server.
func server(call counter: Int64) -> Caller {
    Caller(
        user: UserInfo(userID: "backend"), role: .server,
        request: RequestID(session: "s-backend", counter: counter), replyTo: gateway)
}

/// The command by which `caller` creates a live, for itself unless `owner` names another user.
func createCommand(
    by caller: Caller, _ id: LiveID = live, owner: UserInfo? = nil, _ changes: LiveChanges = LiveChanges()
) -> DirectoryCommand {
    .create(live: id, changes: changes, owner: owner ?? caller.user, caller: caller)
}

/// The codes of the rejections among `effects`; none if all calls succeeded.
func codes(_ effects: [Effect]) -> [ReplyCode] {
    effects.compactMap {
        if case .reply(let reply) = $0, case .failure(let error) = reply.outcome { error.code } else { nil }
    }
}

/// The results of the successes among `effects`.
func results(_ effects: [Effect]) -> [CallResult] {
    effects.compactMap {
        if case .reply(let reply) = $0, case .success(let result) = reply.outcome { result } else { nil }
    }
}
