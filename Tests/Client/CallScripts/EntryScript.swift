// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// A session of a user who logs in and enters a live, while the connection is cut once: during the handshake, the
/// login, the entry, or the first reads of the stores.
///
/// `HostScript` and `GuestScript` plan a cut for each call, so their cuts come before these reads.
package struct EntryScript {
    /// The numbers of frames before a cut that can come until the stores have read their first states.
    package static let frameCountsBeforeCut = Array(0...14)

    /// Whether the user creates the live, or enters the live of another host.
    private let createsLive: Bool
    private let session: any CallScriptSession
    private let live: String

    /// Makes the script of a user, the session's user under test, who creates a live or enters that of another host.
    package init(createsLive: Bool, _ session: any CallScriptSession) {
        (self.createsLive, self.session, self.live) = (createsLive, session, session.id("one"))
    }

    /// The name of the user under test.
    package static func userName(createsLive: Bool) -> String { createsLive ? "host" : "guest" }

    /// Plays the session; throws at the first call that fails.
    package func run() async throws {
        let witness: LivePlaza
        if self.createsLive {
            try await self.enterWithCut()
            witness = try await self.session.enter("witness", self.live)
        } else {
            let host = try await self.session.logIn("host")
            try await host.call("live.create", #"{"live":"\#(self.live)","liveName":"One"}"#)
            try await host.call("live.join", #"{"live":"\#(self.live)"}"#)
            witness = try await self.session.enter("witness", self.live)
            try await self.enterWithCut()
        }
        try await self.session.call("send a text") {
            self.session.plaza.barrageStore(liveID: self.live).sendTextMessage(
                text: "hello", extensionInfo: nil, completion: $0)
        }
        try await self.session.expectSameStores(in: self.live, as: witness, messageTexts: ["hello"])
    }

    /// Logs in and enters; the connection is cut once, wherever it then is.
    private func enterWithCut() async throws {
        let name = Self.userName(createsLive: self.createsLive)
        self.session.planCut()
        try await self.session.callWithoutNewCut("log in") {
            self.session.plaza.loginStore.login(
                sdkAppID: 1, userID: self.session.id(name), userSig: self.session.token(name), completion: $0)
        }
        let lives = self.session.plaza.liveListStore
        try await self.session.callWithoutNewCut("enter") {
            guard self.createsLive else { return lives.joinLive(liveID: self.live, completion: $0) }
            var info = LiveInfo()
            (info.liveID, info.liveName) = (self.live, "One")
            lives.createLive(info, completion: $0)
        }
        await self.session.waitUntilReconnected()
    }
}
