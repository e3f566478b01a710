// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// A model of connections between video lives: which lives run, which are connected, which requests are open.
///
/// The model is for at most eight lives, so that a connection, which has space for nine, is never full.
struct ConnectionModel: Hashable {
    /// The lives that have been opened and have not ended.
    var running: Set<LiveID>
    /// Each connection as the set of its lives.
    var connections: Set<Set<LiveID>> = []
    /// Each open request as its inviter and its invitee.
    var requests: Set<[LiveID]> = []

    /// One step of the model; the first live of a move is the one whose owner acts.
    enum Move: Hashable {
        case request(LiveID, invitee: LiveID)
        case cancel(LiveID, invitee: LiveID)
        case accept(LiveID, inviter: LiveID)
        case reject(LiveID, inviter: LiveID)
        case exit(LiveID)
        /// The owner of the live leaves the live, which continues.
        case ownerGone(LiveID)
        /// The live ends.
        case ended(LiveID)
        /// The live opens; a running live stays as it is.
        case opened(LiveID)
        /// All open requests expire.
        case requestsExpire
    }

    /// The outcome of the call of a move.
    enum CallOutcome: Hashable {
        /// The code of the reply.
        case reply(ReplyCode)
        /// A co-host request that was not rejected: its result for the invitee.
        case coHost(CoHostCode)
    }

    /// All possible moves with these lives.
    static func moves(_ lives: [LiveID]) -> [Move] {
        let pairs = lives.flatMap { live in lives.filter { $0 != live }.map { (live, $0) } }
        let movesOfPairs = pairs.flatMap { live, other in
            [
                Move.request(live, invitee: other), .cancel(live, invitee: other), .accept(live, inviter: other),
                .reject(live, inviter: other),
            ]
        }
        let movesOfOneLive = lives.flatMap { [Move.exit($0), .ownerGone($0), .ended($0), .opened($0)] }
        return movesOfPairs + movesOfOneLive + [.requestsExpire]
    }

    /// The connection that the live is in; nil if the live is not connected.
    func connection(of live: LiveID) -> Set<LiveID>? { self.connections.first { $0.contains(live) } }

    /// Makes the move.
    ///
    /// - Returns: the outcome of the call; nil for a move that is not a call and has no reply.
    mutating func make(_ move: Move) -> CallOutcome? {
        switch move {
        case .request(let live, let invitee): return self.request(live, invitee: invitee)
        case .cancel(let live, let invitee):
            guard self.running.contains(live) else { return .reply(.noSuchRoom) }
            return .reply(self.requests.remove([live, invitee]) == nil ? .noSuchConnection : .success)
        case .accept(let live, let inviter): return self.accept(live, inviter: inviter)
        case .reject(let live, let inviter):
            guard self.running.contains(live) else { return .reply(.noSuchRoom) }
            return .reply(self.requests.remove([inviter, live]) == nil ? .noSuchConnection : .success)
        case .exit(let live):
            guard self.running.contains(live) else { return .reply(.noSuchRoom) }
            guard self.connection(of: live) != nil else { return .reply(.noSuchConnection) }
            self.leaveConnection(live)
            return .reply(.success)
        case .ownerGone(let live): self.leaveConnectionAndEndRequests(live)
        case .ended(let live):
            self.leaveConnectionAndEndRequests(live)
            self.running.remove(live)
        case .opened(let live): self.running.insert(live)
        case .requestsExpire: self.requests = []
        }
        return nil
    }

    private mutating func request(_ inviter: LiveID, invitee: LiveID) -> CallOutcome {
        guard self.running.contains(inviter) else { return .reply(.noSuchRoom) }
        guard self.running.contains(invitee) else { return .coHost(.noSuchLive) }
        if self.connection(of: invitee)?.contains(inviter) == true { return .coHost(.alreadyInvited) }
        if self.requests.contains(where: { $0[1] == invitee }) { return .coHost(.alreadyInvited) }
        if self.connection(of: invitee) != nil { return .coHost(.connectedElsewhere) }
        self.requests.insert([inviter, invitee])
        return .coHost(.sent)
    }

    private mutating func accept(_ live: LiveID, inviter: LiveID) -> CallOutcome {
        guard self.running.contains(live) else { return .reply(.noSuchRoom) }
        guard self.requests.contains([inviter, live]) else {
            let areConnected = self.connection(of: live)?.contains(inviter) == true
            return .reply(areConnected ? .alreadyConnected : .noSuchConnection)
        }
        guard self.connection(of: live) == nil else { return .reply(.connectedElsewhere) }
        let oldConnection = self.connection(of: inviter) ?? [inviter]
        let newConnection = oldConnection.union([live])
        self.connections.remove(oldConnection)
        self.connections.insert(newConnection)
        // The accepted request ends, and so do all requests between lives that are connected now.
        self.requests = self.requests.filter { !newConnection.isSuperset(of: $0) }
        return .reply(.success)
    }

    /// Removes the live from its connection, which ends when only one live remains.
    private mutating func leaveConnection(_ live: LiveID) {
        guard let connection = self.connection(of: live) else { return }
        self.connections.remove(connection)
        let remaining = connection.subtracting([live])
        if remaining.count > 1 { self.connections.insert(remaining) }
    }

    /// Removes the live from its connection, and ends all requests of and to the live.
    private mutating func leaveConnectionAndEndRequests(_ live: LiveID) {
        self.leaveConnection(live)
        self.requests = self.requests.filter { !$0.contains(live) }
    }
}

extension ConnectionHarness {
    /// The state of the rows, as a model.
    var connectionModel: ConnectionModel {
        var model = ConnectionModel(running: [])
        for key in self.machine.rows.sortedKeys {
            switch self.machine.rows[key] {
            case .live?: model.running.insert(key.live.live)
            case .request(let request)?: model.requests.insert([request.inviter, request.invitee])
            case .connection(let view)?: model.connections.insert(Set(view.members.map(\.live)))
            default: break
            }
        }
        return model
    }

    /// Makes the move with the machine.
    ///
    /// - Returns: the outcome in the form of `ConnectionModel.make`.
    mutating func make(_ move: ConnectionModel.Move) -> ConnectionModel.CallOutcome? {
        let effects = self.effects(of: move)
        if let code = effects.coHostCodes?.first?.flatMap(\.self) { return .coHost(code) }
        return effects.code.map { .reply($0) }
    }

    /// Hands the input of a move to the machine.
    private mutating func effects(of move: ConnectionModel.Move) -> [Effect] {
        switch move {
        case .request(let live, let invitee): self.request(live, to: invitee)
        case .cancel(let live, let invitee):
            self.call(live) { .cancelRequest(from: live, to: [invitee], caller: $0) }
        case .accept(let live, let inviter): self.accept(live, inviter: inviter)
        case .reject(let live, let inviter): self.call(live) { .reject(live: live, inviter: inviter, caller: $0) }
        case .exit(let live): self.exit(live)
        case .ownerGone(let live): self.handle(.userGone(live: live, user: Self.host(live).userID))
        case .ended(let live): self.handle(.ended(live: live, ending: ending()))
        case .opened(let live): self.handle(.opened(live: live, owner: Self.host(live), isVoice: false))
        // 10 s are the default time-out of a request.
        case .requestsExpire: self.advance(milliseconds: 10_000)
        }
    }
}
