// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The calls that return snapshots, which are parts of a live's state.
extension PlazaEngine {
    /// The maximum number of mutes that a host reads.
    ///
    /// A viewer reads one page, because a live may have very many viewers.
    private static var maxMutes: Int { 1000 }

    /// Calls the method that returns a snapshot.
    func fetch(_ name: SnapshotName, of live: LiveID) async throws(ErrorInfo) -> Snapshot {
        switch name {
        case .details:
            guard case .room(let details) = try await self.call("live.get", live: live) else {
                throw .wrongResultKind
            }
            return .details(details)
        case .audience:
            let result = try await self.call(
                "audience.list", ["count": .whole(LiveAudienceState.maxListedViewers)], live: live)
            guard case .audience(let page) = result else { throw .wrongResultKind }
            return .audience(page)
        case .statistics:
            guard case .statistics(let statistics, let at) = try await self.call("live.summary", live: live) else {
                throw .wrongResultKind
            }
            return .statistics(statistics, at: at)
        case .seatRequests:
            let result = try await self.call("seat.requests", live: live)
            guard case .seatRequests(let applications, let invitations, let at) = result else {
                throw .wrongResultKind
            }
            return .seatRequests(applications: applications, invitations: invitations, at: at)
        case .mutes: return .mutes(try await self.fetchMutes(of: live))
        case .coHostRequests:
            guard
                case .coHostRequests(let sent, let received, let at) = try await self.call(
                    "cohost.requests", live: live)
            else { throw .wrongResultKind }
            return .coHostRequests(sent: sent, received: received, at: at)
        case .battleRequests:
            guard
                case .battleRequests(let sent, let received, let at) = try await self.call(
                    "battle.requests", live: live)
            else { throw .wrongResultKind }
            return .battleRequests(sent: sent, received: received, at: at)
        }
    }

    /// Reads the mutes of a live, and returns them as one page.
    private func fetchMutes(of live: LiveID) async throws(ErrorInfo) -> SanctionPage {
        var walk = MuteWalk(maxCount: self.isHost ? Self.maxMutes : MuteWalk.mutesPerPage)
        while let offset = walk.offset {
            let params: [String: JSONValue] = [
                "offset": .whole(offset), "count": .whole(MuteWalk.mutesPerPage),
            ]
            guard case .sanctions(let page) = try await self.call("live.mutes", params, live: live) else {
                throw .wrongResultKind
            }
            walk.received(page)
        }
        return walk.mutes
    }
}
