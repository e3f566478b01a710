// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit

/// An evening of two hosts and a viewer, each with a `RoomScreen`; runs on a cluster in memory and on a real one.
@MainActor
public struct Evening {
    /// Waits until a condition holds, or throws an error with the text.
    public typealias Wait = @MainActor (_ what: String, _ condition: () -> Bool) async throws -> Void

    private let host: RoomScreen
    private let rival: RoomScreen
    private let viewer: RoomScreen
    private let names: Names
    private let wait: Wait

    /// The ids of the evening's lives and users.
    private struct Names {
        /// The host's live, which the viewer enters.
        let live: String
        /// The live of the rival, who is another host.
        let rivalLive: String
        let host: String
        let rival: String
        let viewer: String
    }

    /// Plays the evening.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the ids of all lives and users.
    ///   - client: returns the client of a user who is logged in.
    ///   - wait: waits for a condition.
    /// - Throws: an error of `client` or `wait`; a screen that does not show what it should makes `wait` fail.
    public static func play(
        prefix: String, client: @MainActor (_ user: String) async throws -> LivePlaza, wait: @escaping Wait
    ) async throws {
        let names = Names(
            live: "\(prefix)-live", rivalLive: "\(prefix)-other", host: "\(prefix)-host", rival: "\(prefix)-rival",
            viewer: "\(prefix)-viewer")
        let evening = Evening(
            host: RoomScreen(plaza: try await client(names.host), liveID: names.live),
            rival: RoomScreen(plaza: try await client(names.rival), liveID: names.rivalLive),
            viewer: RoomScreen(plaza: try await client(names.viewer), liveID: names.live), names: names, wait: wait)
        try await evening.play()
    }

    private func play() async throws {
        try await self.goLiveAndFindLives()
        try await self.chatAndSell()
        try await self.seatViewer()
        try await self.connectAndFight()
        try await self.manageAudience()
        self.host.end()
        try await self.expect(self.host, logs: "end live")
    }

    private func expect(_ screen: RoomScreen, logs entry: String) async throws {
        try await self.wait("'\(entry)' in the log") { screen.log.contains(entry) }
    }

    /// Both hosts go live, and the viewer reads the list: all pages, then the lives of one category.
    private func goLiveAndFindLives() async throws {
        self.host.goLive(category: 3)
        self.rival.goLive(category: 4)
        try await self.expect(self.host, logs: "go live")
        try await self.expect(self.rival, logs: "go live")
        // A gateway lists a new live after some seconds, so the viewer reads the list again until it has both.
        try await self.load(category: nil) { $0.contains(self.names.live) && $0.contains(self.names.rivalLive) }
        try await self.load(category: 3) { $0.contains(self.names.live) && !$0.contains(self.names.rivalLive) }
        self.viewer.enter()
        try await self.expect(self.viewer, logs: "enter")
    }

    /// Lets the viewer read the list until it is complete.
    private func load(category: Int?, until isComplete: (_ lives: [String]) -> Bool) async throws {
        self.viewer.loadLives(category: category)
        var checkCount = 0
        try await self.wait("the list of lives of the category \(category.map(String.init) ?? "any")") {
            guard let lives = self.viewer.liveIDs else { return false }
            if isComplete(lives) { return true }
            // A user may read lists only a few times a second, so not every check reads the list again.
            checkCount += 1
            if checkCount.isMultiple(of: 50) { self.viewer.loadLives(category: category) }
            return false
        }
    }

    /// The host greets the viewer, both chat, and the host shows a product.
    private func chatAndSell() async throws {
        try await self.wait("the host's tip") { self.host.chat == ["Welcome \(self.names.viewer)"] }
        self.viewer.say("hello")
        try await self.wait("the message at the host") { self.host.chat.last == "hello" }
        self.host.showProduct("tea")
        try await self.wait("the product at the viewer") { self.viewer.product == "tea" }
    }

    /// The viewer applies for a seat, which the host's screen grants; then all see the viewer's widget.
    private func seatViewer() async throws {
        self.viewer.applyForSeat()
        try await self.expect(self.host, logs: "accept guest \(self.names.viewer)")
        try await self.wait("the widgets of host and guest") {
            [self.host, self.viewer].allSatisfy {
                $0.widgets == ["guest \(self.names.host)", "guest \(self.names.viewer)"]
            }
        }
    }

    /// The host connects with the rival, and they fight; a second request for a connection fails with its code.
    private func connectAndFight() async throws {
        self.host.connect(with: self.names.rivalLive)
        try await self.expect(self.rival, logs: "connect with \(self.names.live)")
        let hostWidgets = ["host \(self.names.host)", "host \(self.names.rival)"]
        try await self.wait("the widgets of both hosts") {
            [self.host, self.rival, self.viewer].allSatisfy { Set(hostWidgets).isSubset(of: $0.widgets) }
        }
        self.rival.connect(with: self.names.live)
        try await self.expect(self.rival, logs: "request \(self.names.live): alreadyConnected")
        self.host.fight(self.names.rival)
        try await self.expect(self.host, logs: "ask \(self.names.rival): code 0")
        let fighters = ["fighter \(self.names.host)", "fighter \(self.names.rival)", "score bar"]
        try await self.wait("the widgets of the battle") {
            [self.host, self.rival, self.viewer].allSatisfy {
                $0.battleID != nil && Set(fighters).isSubset(of: $0.widgets)
            }
        }
        self.host.disconnect()
        try await self.wait("the end of battle and connection") {
            [self.host, self.rival, self.viewer].allSatisfy { screen in
                screen.battleID == nil && !screen.widgets.contains { $0.hasPrefix("host") || $0.hasPrefix("fighter") }
            }
        }
    }

    /// The host makes the viewer an admin, and kicks the viewer out.
    private func manageAudience() async throws {
        self.host.appoint(self.names.viewer)
        try await self.wait("the admin in the audience") { self.host.audience == ["\(self.names.viewer)*"] }
        self.host.kick(self.names.viewer)
        try await self.expect(self.viewer, logs: "kicked out")
        try await self.wait("an empty audience") { self.host.audience.isEmpty }
    }
}
