// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
package import ProtocolClient

/// A load of calls of one kind at a steady rate, made by the owners of many lives.
///
/// There are many lives, so that all partitions of a service have work. Each call of an owner replaces the effect of
/// the owner's call before. So at the end a live shows whether its last acknowledged call was lost.
package final class CallLoad: Sendable {
    /// The owner of a live.
    private struct Owner: Sendable {
        var live: LiveID
        /// The other live of the pair; the two lives are connected if the calls are about co-hosts.
        var partner: LiveID
        var client: PlazaClient
    }

    private let load: ScaleLoad
    /// The event loop of all clients.
    private let hub: ClientHub
    private let owners: [Owner]
    /// The number of acknowledged calls.
    private let acknowledged = Locked(0)
    /// The number of rejected calls by reply code.
    private let rejected = Locked<[String: Int]>([:])
    /// For each live, the calls whose effect the live may show; in the order of `owners`.
    private let visibleCalls: Locked<[VisibleCalls]>

    /// Logs the owners in, lets each create and join its live, and connects the lives in pairs for the load of
    /// co-hosts.
    ///
    /// - Parameters:
    ///   - load: what the calls do.
    ///   - lives: the number of lives, which is even.
    ///   - apps: the apps, to which the pairs of lives belong in turn.
    ///   - addresses: the gateways, among which the owners are distributed.
    ///   - name: the beginning of the lives' names.
    ///   - token: makes a token for a user of an app.
    /// - Throws: the error with which a call was rejected, or `LoopError`.
    package init(
        _ load: ScaleLoad, lives: Int, apps: [String], addresses: [PlazaAddress], name: String,
        token: @Sendable (_ app: String, _ user: String) -> String
    ) async throws {
        self.load = load
        let hub = try ClientHub(name: "scale-calls")
        self.hub = hub
        var owners: [Owner] = []
        for index in 0..<lives {
            let live = LiveID("\(name)-\(index)")
            // The lives with the numbers 0 and 1 are a pair, then those with 2 and 3.
            let app = apps[index / 2 % apps.count]
            let options = BareClientCore.Options(token: token(app, live.text), session: SessionID(live.text))
            let client = hub.client(addresses: Self.rotate(addresses, by: index), options: options)
            try await client.call("live.create", CallParams(live: live))
            try await client.call("live.join", CallParams(live: live), live: live)
            // `index ^ 1` is the index of the other live of the pair: 1 for 0, and 0 for 1.
            owners.append(Owner(live: live, partner: LiveID("\(name)-\(index ^ 1)"), client: client))
        }
        self.owners = owners
        self.visibleCalls = Locked(Array(repeating: VisibleCalls(), count: lives))
        if load == .coHost {
            for first in stride(from: 0, to: lives - 1, by: 2) {
                try await Self.connect(owners[first], with: owners[first + 1])
            }
        }
    }

    /// The addresses in the same cyclic order, beginning with the one at `index`.
    ///
    /// A client connects to the first address of its list. If all lists began with the same address, one gateway would
    /// do all the work.
    static func rotate(_ addresses: [PlazaAddress], by index: Int) -> [PlazaAddress] {
        guard !addresses.isEmpty else { return [] }
        let first = index % addresses.count
        return Array(addresses[first...] + addresses[..<first])
    }

    /// Connects two lives of one app.
    private static func connect(_ inviter: Owner, with invitee: Owner) async throws {
        let request = CallParams(live: inviter.live, to: [invitee.live], timeout: 30)
        var result = try await inviter.client.call("cohost.request", request)
        // The service of co-hosting may not know the new other live yet, and then the request fails. So the request is
        // repeated. It is sent ten times at most, because a live may send no more requests at once.
        for _ in 1..<10 where !Self.isSent(result) {
            try await Task.sleep(for: .milliseconds(500))
            result = try await inviter.client.call("cohost.request", request)
        }
        try await invitee.client.call("cohost.accept", CallParams(live: invitee.live, inviter: inviter.live))
    }

    /// Whether a co-host request was sent to all lives that it names.
    private static func isSent(_ result: CallResult) -> Bool {
        guard case .coHost(let codes) = result else { return false }
        return codes.allSatisfy { $0.code == 0 }
    }

    /// The number of calls acknowledged so far.
    package var acknowledgedCount: Int { self.acknowledged.withLock { $0 } }

    /// The number of calls rejected so far, by reply code.
    package var rejectedCounts: [String: Int] { self.rejected.withLock { $0 } }

    /// Sends calls until the task is cancelled, then waits for the answers.
    ///
    /// - Parameter interval: the time between two calls of one owner.
    package func run(every interval: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for index in self.owners.indices {
                group.addTask {
                    // Staggered starts spread the owners' calls evenly over the interval.
                    try? await Task.sleep(for: interval * index / max(1, self.owners.count))
                    await self.callRepeatedly(index, every: interval)
                }
            }
        }
    }

    /// Ends the clients.
    package func stop() { self.hub.stop() }

    private func callRepeatedly(_ index: Int, every interval: Duration) async {
        let owner = self.owners[index]
        var number = 0
        var nextCallAt = ContinuousClock.now
        while !Task.isCancelled {
            number += 1
            let (method, params) = self.makeCall(number, owner)
            do {
                try await owner.client.call(method, params)
                self.acknowledged.withLock { $0 += 1 }
                self.visibleCalls.withLock { $0[index].recordAcknowledged(number) }
            } catch {
                self.rejected.withLock { $0[error.code.name, default: 0] += 1 }
                self.visibleCalls.withLock { $0[index].recordUnacknowledged(number) }
            }
            // If answers came late, at most one of the calls that were due meanwhile is made up for without a pause.
            nextCallAt = max(nextCallAt + interval, .now - interval)
            try? await Task.sleep(until: nextCallAt)
        }
    }

    /// The method and the parameters of an owner's call with this number; the first call has number 1.
    private func makeCall(_ number: Int, _ owner: Owner) -> (method: String, params: CallParams) {
        let live = owner.live
        return switch self.load {
        case .directory: ("metadata.set", CallParams(live: live, metadata: ["round": "\(number)"]))
        case .presence: ("audience.list", CallParams(live: live, count: 10))
        case .barrage: ("barrage.sendText", CallParams(live: live, text: "\(number)"))
        case .seats:
            ("seat.lock", CallParams(live: live, seatIndex: Self.lockedSeat, locked: !number.isMultiple(of: 2)))
        case .coHost:
            ("cohost.muteRemote", CallParams(live: live, other: owner.partner, muted: !number.isMultiple(of: 2)))
        case .gateway: ("live.get", CallParams(live: live))
        }
    }

    /// The seat that the calls of the load `seats` lock and unlock.
    private static let lockedSeat = 3

    // MARK: Effects

    /// Finds the lives that do not show the effect of their last acknowledged call (I15 in docs/RULES.md).
    ///
    /// Only the calls of the directory, of seats and of co-hosts have an effect that a live keeps.
    ///
    /// - Returns: a sentence for each such live.
    package func findLostCalls() async -> [String] {
        var lost: [String] = []
        for index in self.owners.indices {
            let possibleEffects = self.visibleCalls.withLock { $0[index].numbers }.map { self.effect(ofCall: $0) }
            // The stage, which is the state of seats and co-hosts, shows a change of co-hosts some milliseconds after
            // the reply. So it is read again for up to 5 s.
            let deadline = ContinuousClock.now + .seconds(5)
            var shown = await self.readEffect(index)
            while let effect = shown, !possibleEffects.contains(effect), ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(100))
                shown = await self.readEffect(index)
            }
            if let effect = shown, !possibleEffects.contains(effect) {
                let expected = possibleEffects.joined(separator: " or ")
                lost.append("\(self.owners[index].live) shows \(effect) instead of \(expected)")
            }
        }
        return lost
    }

    /// The value that a live shows after the call with this number; 0 means before the first call.
    ///
    /// The directory stores the number itself. The calls of the other loads lock or mute by odd numbers, and undo this
    /// by even numbers.
    private func effect(ofCall number: Int) -> String {
        self.load == .directory ? "\(number)" : "\(!number.isMultiple(of: 2))"
    }

    /// Reads the value that a live shows; returns the error's name if the read fails.
    ///
    /// Returns nil if the calls have no lasting effect.
    private func readEffect(_ index: Int) async -> String? {
        let owner = self.owners[index]
        do {
            switch self.load {
            case .directory:
                let result = try await owner.client.call("metadata.get", CallParams(live: owner.live))
                guard case .metadata(let values) = result else { return "no metadata" }
                return values["round"] ?? "0"
            case .seats:
                let seats = try await Self.stage(of: owner)?.seats
                return "\(seats?.first { $0.index == Self.lockedSeat }?.isLocked == true)"
            case .coHost:
                let connection = try await Self.stage(of: owner)?.connection
                return "\(connection?.mutedLives.contains(owner.partner) == true)"
            case .presence, .barrage, .gateway: return nil
            }
        } catch {
            return error.code.name
        }
    }

    private static func stage(of owner: Owner) async throws(ReplyError) -> StageRecord? {
        let result = try await owner.client.call("stage.get", CallParams(live: owner.live))
        if case .stage(let record) = result { return record }
        return nil
    }
}
