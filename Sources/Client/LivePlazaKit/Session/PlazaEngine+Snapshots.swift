// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The calls that return snapshots, which are parts of a live's state.
extension PlazaEngine {
    /// The maximum number of mutes that a host reads.
    ///
    /// A viewer reads one page, because a live may have very many viewers.
    private static var maxMutes: Int { 1000 }
    private static var mutesPerPage: Int { 100 }

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
    ///
    /// Each page also tells whether this user is muted, whichever page this mute is on. The result has the time of the
    /// first page, because it may lack changes after this time.
    private func fetchMutes(of live: LiveID) async throws(ErrorInfo) -> SanctionPage {
        let maxCount = self.isHost ? Self.maxMutes : Self.mutesPerPage
        var mutes = SanctionPage(items: [], nextOffset: 0)
        var offset = 0
        repeat {
            let params: [String: JSONValue] = ["offset": .integer(Int64(offset)), "count": .whole(Self.mutesPerPage)]
            guard case .sanctions(let page) = try await self.call("live.mutes", params, live: live) else {
                throw .wrongResultKind
            }
            if offset == 0 { mutes.at = page.at }
            mutes.items += page.items
            mutes.own = page.own
            offset = page.nextOffset
        } while offset > 0 && offset < maxCount
        return mutes
    }
}
