// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaWire

/// Who watches a live.
public final class LiveAudienceStore: @unchecked Sendable {
    private let stores: LiveStores

    /// How many watch, and at most 200 of them.
    public var state: StatePublisher<LiveAudienceState> { self.stores.audience }
    /// Who came, who went, and who may not write any more.
    public var liveAudienceEventPublisher: PassthroughSubject<LiveAudienceEvent, Never> { self.stores.audienceEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LiveAudienceStore { LivePlaza.shared.audienceStore(liveID: liveID) }

    /// Reads the first 200 viewers anew.
    ///
    /// Entering a live does that by itself, and `audienceList` then follows the feed.
    ///
    /// - Parameter completion: errors: `notInRoom`.
    public func fetchAudienceList(completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.fetching)
    }

    /// Reads the first 200 viewers anew.
    public func fetchAudienceList() async throws(ErrorInfo) { try await self.stores.handle.run(self.fetching) }

    /// Makes a viewer an admin; for the owner.
    ///
    /// Errors of the completion: `needsOwner`, `noPermission`, `notMember`, `tooManyAdmins`.
    public func setAdministrator(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.call("admin.set", userID))
    }

    /// Makes a viewer an admin; for the owner.
    public func setAdministrator(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.call("admin.set", userID))
    }

    /// Takes an admin's rights back; for the owner.
    ///
    /// Errors of the completion: `needsOwner`.
    public func revokeAdministrator(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.call("admin.revoke", userID))
    }

    /// Takes an admin's rights back; for the owner.
    public func revokeAdministrator(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.call("admin.revoke", userID))
    }

    /// Puts a viewer out, who may enter again; for owner and admins.
    ///
    /// Errors of the completion: `needsOwnerOrAdmin`, `noPermission`, `notMember`.
    public func kickUserOutOfRoom(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.call("audience.kick", userID))
    }

    /// Puts a viewer out, who may enter again; for owner and admins.
    public func kickUserOutOfRoom(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.call("audience.kick", userID))
    }

    /// Forbids or allows a viewer to write; for owner and admins.
    ///
    /// Errors of the completion: `needsOwnerOrAdmin`, `noPermission`, `overLimit`.
    public func disableSendMessage(userID: String, isDisable: Bool, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.mute(userID, isDisable))
    }

    /// Forbids or allows a viewer to write; for owner and admins.
    public func disableSendMessage(userID: String, isDisable: Bool) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.mute(userID, isDisable))
    }

    private var fetching: StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            if engine.currentLiveID == liveID { return try await engine.refresh(.audience) }
            // The server says what is wrong.
            _ = try await engine.perform(StoreCall("audience.list", ["count": .whole(200)]), in: liveID)
        }
    }

    private static func call(_ method: String, _ userID: String) -> StoreCall {
        StoreCall(method, ["user": .text(userID)])
    }

    private static func mute(_ userID: String, _ isDisable: Bool) -> StoreCall {
        // −1: for good; 0: may write again.
        StoreCall("live.mute", ["users": .texts([userID]), "duration": .whole(isDisable ? -1 : 0)])
    }
}
