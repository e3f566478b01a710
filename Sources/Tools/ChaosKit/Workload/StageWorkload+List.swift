// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload that walks through the list of lives, while other lives begin and end.
extension StageWorkload {
    /// The number of lives on a page: few, so that a walk has several pages, between which lives begin and end.
    private static let livesPerPage = 2

    /// Walks through the list repeatedly, and records the walks that must contain both lives.
    ///
    /// A gateway refreshes its list every 5 s, so a new live may be missing at first. A walk is recorded only if an
    /// earlier walk through the list of the same gateway had both lives.
    func runListWalks(until isOver: () -> Bool) async {
        // The gateways whose lists had both lives.
        var preparedGateways: Set<GatewayID> = []
        var round = 0
        while !isOver() {
            round += 1
            if let (pages, gateway) = await self.walkList() {
                if preparedGateways.contains(gateway) {
                    let walk = ListWalk(name: "walk \(round)", pages: pages, at: .ofThisMachine)
                    self.history.withLock { $0.listWalks.append(walk) }
                } else if Set(self.lives).isSubset(of: pages.joined()) {
                    preparedGateways.insert(gateway)
                }
            }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Walks through the list once.
    ///
    /// - Returns: the lives of each page, and the gateway; nil if a page could not be read, or if the list has only one
    ///   page (the gateway is known from the cursor of a next page).
    private func walkList() async -> (pages: [[LiveID]], gateway: GatewayID)? {
        var pages: [[LiveID]] = []
        var cursor = ""
        var gateway: GatewayID?
        repeat {
            let params = CallParams(cursor: cursor, count: Self.livesPerPage)
            guard case .lives(let entries, let nextCursor)? = try? await self.lister.call("live.list", params) else {
                return nil
            }
            pages.append(entries.map(\.info.liveID))
            cursor = nextCursor
            if let cursor = ListCursor(text: cursor) { gateway = cursor.gateway }
        } while !cursor.isEmpty
        return gateway.map { (pages, $0) }
    }

    /// Lets lives of other hosts begin and end.
    func runPassingLives(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            let live = LiveID("\(self.setting.name)-passing-\(round)")
            let host = UserID("\(live)-host")
            try await self.call(
                self.appServer, "the app's server", "live.create", CallParams(live: live, owner: host),
                alreadyDone: [.roomExists, .roomExistsAndIsYours])
            try? await Task.sleep(for: .seconds(2))
            try await self.call(
                self.appServer, "the app's server", "live.end", CallParams(live: live),
                alreadyDone: [.noSuchRoom, .noSuchRoomOnEntry])
        }
    }
}
