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
        case request(LiveID, LiveID)
        case cancel(LiveID, LiveID)
        case accept(LiveID, LiveID)
        case reject(LiveID, LiveID)
        case exit(LiveID)
        /// The owner of the live leaves it.
        case lost(LiveID)
        case ended(LiveID)
        case opened(LiveID)
        case timeOut
    }

    /// All possible moves with these lives.
    static func moves(_ lives: [LiveID]) -> [Move] {
        let pairs = lives.flatMap { a in lives.filter { $0 != a }.map { (a, $0) } }
        let between = pairs.flatMap { a, b in [Move.request(a, b), .cancel(a, b), .accept(a, b), .reject(a, b)] }
        return between + lives.flatMap { [Move.exit($0), .lost($0), .ended($0), .opened($0)] } + [.timeOut]
    }

    func connection(of live: LiveID) -> Set<LiveID>? { self.connections.first { $0.contains(live) } }

    /// Makes the move.
    ///
    /// - Returns: the code of the reply, or for a request the result code of the live; nil for a fact, which has no
    ///   reply.
    mutating func make(_ move: Move) -> Int? {
        switch move {
        case .request(let a, let b): return self.request(a, b)
        case .cancel(let a, let b):
            guard self.running.contains(a) else { return 100004 }
            return self.requests.remove([a, b]) == nil ? 100400 : 0
        case .accept(let b, let a): return self.accept(b, a)
        case .reject(let b, let a):
            guard self.running.contains(b) else { return 100004 }
            return self.requests.remove([a, b]) == nil ? 100400 : 0
        case .exit(let a):
            guard self.running.contains(a) else { return 100004 }
            guard self.connection(of: a) != nil else { return 100400 }
            self.leave(a)
            return 0
        case .lost(let a): self.withdraw(a)
        case .ended(let a):
            self.withdraw(a)
            self.running.remove(a)
        case .opened(let a): self.running.insert(a)
        case .timeOut: self.requests = []
        }
        return nil
    }

    private mutating func request(_ a: LiveID, _ b: LiveID) -> Int {
        guard self.running.contains(a) else { return 100004 }
        guard self.running.contains(b) else { return 1 }
        if self.connection(of: b)?.contains(a) == true { return 2 }
        if self.requests.contains(where: { $0[1] == b }) { return 2 }
        if self.connection(of: b) != nil { return 3 }
        self.requests.insert([a, b])
        return 0
    }

    private mutating func accept(_ b: LiveID, _ a: LiveID) -> Int {
        guard self.running.contains(b) else { return 100004 }
        guard self.requests.contains([a, b]) else {
            return self.connection(of: b)?.contains(a) == true ? 100401 : 100400
        }
        guard self.connection(of: b) == nil else { return 100403 }
        let old = self.connection(of: a) ?? [a]
        let new = old.union([b])
        self.connections.remove(old)
        self.connections.insert(new)
        self.requests = self.requests.filter { !new.isSuperset(of: $0) }
        return 0
    }

    private mutating func leave(_ live: LiveID) {
        guard let old = self.connection(of: live) else { return }
        self.connections.remove(old)
        let remaining = old.subtracting([live])
        if remaining.count > 1 { self.connections.insert(remaining) }
    }

    private mutating func withdraw(_ live: LiveID) {
        self.leave(live)
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
        case .request(let a, let b):
            let effects = self.request(a, b)
            return effects.liveCodes?.first ?? effects.code
        case .cancel(let a, let b):
            return self.call(a) { .cancelRequest(from: a, to: [b], caller: $0) }.code
        case .accept(let b, let a): return self.accept(b, a).code
        case .reject(let b, let a): return self.call(b) { .reject(live: b, inviter: a, caller: $0) }.code
        case .exit(let a): return self.exit(a).code
        case .lost(let a): return self.handle(.userGone(live: a, user: Self.host(a).userID)).code
        case .ended(let a): return self.handle(.ended(live: a, ending: ending())).code
        case .opened(let a): return self.handle(.opened(live: a, owner: Self.host(a), isVoice: false)).code
        case .timeOut: return self.advance(milliseconds: 10_000).code
        }
    }
}
