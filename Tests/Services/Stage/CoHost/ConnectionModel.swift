// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// A model of connections between video lives: which lives run, which are connected, which requests are open.
struct ConnectionModel: Hashable {
    var running: Set<LiveID>
    /// Each connection as the set of its lives.
    var connections: Set<Set<LiveID>> = []
    /// Each open request as its inviter and its invitee.
    var requests: Set<[LiveID]> = []

    /// One step of the model.
    ///
    /// The first live of a move is the one whose owner acts.
    enum Move: Hashable {
        case request(LiveID, invitee: LiveID)
        case cancel(LiveID, invitee: LiveID)
        case accept(LiveID, inviter: LiveID)
        case reject(LiveID, inviter: LiveID)
        case exit(LiveID)
        /// The owner of the live leaves it.
        case ownerGone(LiveID)
        case ended(LiveID)
        case opened(LiveID)
        /// All open requests expire.
        case timeOut
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
        return movesOfPairs + lives.flatMap { [Move.exit($0), .ownerGone($0), .ended($0), .opened($0)] } + [.timeOut]
    }

    func connection(of live: LiveID) -> Set<LiveID>? { self.connections.first { $0.contains(live) } }

    /// Makes the move.
    ///
    /// - Returns: the code of the reply, or for a request the result code of the live; nil for a fact, which has no
    ///   reply.
    mutating func make(_ move: Move) -> Int? {
        switch move {
        case .request(let live, let invitee): return self.request(live, invitee: invitee)
        case .cancel(let live, let invitee):
            guard self.running.contains(live) else { return 100004 }
            return self.requests.remove([live, invitee]) == nil ? 100400 : 0
        case .accept(let live, let inviter): return self.accept(live, inviter: inviter)
        case .reject(let live, let inviter):
            guard self.running.contains(live) else { return 100004 }
            return self.requests.remove([inviter, live]) == nil ? 100400 : 0
        case .exit(let live):
            guard self.running.contains(live) else { return 100004 }
            guard self.connection(of: live) != nil else { return 100400 }
            self.leaveConnection(live)
            return 0
        case .ownerGone(let live): self.leaveAndDropRequests(live)
        case .ended(let live):
            self.leaveAndDropRequests(live)
            self.running.remove(live)
        case .opened(let live): self.running.insert(live)
        case .timeOut: self.requests = []
        }
        return nil
    }

    private mutating func request(_ inviter: LiveID, invitee: LiveID) -> Int {
        guard self.running.contains(inviter) else { return 100004 }
        guard self.running.contains(invitee) else { return 1 }
        if self.connection(of: invitee)?.contains(inviter) == true { return 2 }
        if self.requests.contains(where: { $0[1] == invitee }) { return 2 }
        if self.connection(of: invitee) != nil { return 3 }
        self.requests.insert([inviter, invitee])
        return 0
    }

    private mutating func accept(_ live: LiveID, inviter: LiveID) -> Int {
        guard self.running.contains(live) else { return 100004 }
        guard self.requests.contains([inviter, live]) else {
            return self.connection(of: live)?.contains(inviter) == true ? 100401 : 100400
        }
        guard self.connection(of: live) == nil else { return 100403 }
        let oldConnection = self.connection(of: inviter) ?? [inviter]
        let newConnection = oldConnection.union([live])
        self.connections.remove(oldConnection)
        self.connections.insert(newConnection)
        self.requests = self.requests.filter { !newConnection.isSuperset(of: $0) }
        return 0
    }

    private mutating func leaveConnection(_ live: LiveID) {
        guard let connection = self.connection(of: live) else { return }
        self.connections.remove(connection)
        let remaining = connection.subtracting([live])
        if remaining.count > 1 { self.connections.insert(remaining) }
    }

    private mutating func leaveAndDropRequests(_ live: LiveID) {
        self.leaveConnection(live)
        self.requests = self.requests.filter { !$0.contains(live) }
    }
}

extension ConnectionHarness {
    /// The state of the rows, as a model.
    var connectionModel: ConnectionModel {
        var model = ConnectionModel(running: [])
        for key in self.machine.journal.sortedKeys {
            switch self.machine.journal[key] {
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
    /// - Returns: the same codes as `ConnectionModel.make`.
    mutating func make(_ move: ConnectionModel.Move) -> Int? {
        switch move {
        case .request(let live, let invitee):
            let effects = self.request(live, to: invitee)
            return effects.liveCodes?.first ?? effects.code
        case .cancel(let live, let invitee):
            return self.call(live) { .cancelRequest(from: live, to: [invitee], caller: $0) }.code
        case .accept(let live, let inviter): return self.accept(live, inviter: inviter).code
        case .reject(let live, let inviter):
            return self.call(live) { .reject(live: live, inviter: inviter, caller: $0) }.code
        case .exit(let live): return self.exit(live).code
        case .ownerGone(let live): return self.handle(.userGone(live: live, user: Self.host(live).userID)).code
        case .ended(let live): return self.handle(.ended(live: live, ending: ending())).code
        case .opened(let live): return self.handle(.opened(live: live, owner: Self.host(live), isVoice: false)).code
        case .timeOut: return self.advance(milliseconds: 10_000).code
        }
    }
}
