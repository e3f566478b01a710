// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaWire

/// The audience of a live.
public final class LiveAudienceStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The number of viewers, and at most 200 of them.
    public var state: StatePublisher<LiveAudienceState> { self.stores.audience }
    /// Publishes viewers who join, leave, and are muted or unmuted.
    public var liveAudienceEventPublisher: PassthroughSubject<LiveAudienceEvent, Never> { self.stores.audienceEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LiveAudienceStore { LivePlaza.shared.audienceStore(liveID: liveID) }

    /// Reads the first 200 viewers again.
    ///
    /// The client does this itself when it enters a live; then the feed keeps `audienceList` up to date.
    ///
    /// - Parameter completion: errors: `notInRoom`.
    public func fetchAudienceList(completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.fetchOperation)
    }

    /// Reads the first 200 viewers again.
    public func fetchAudienceList() async throws(ErrorInfo) { try await self.stores.handle.run(self.fetchOperation) }

    /// Makes a viewer an admin; for the owner.
    ///
    /// Errors of the completion: `needsOwner`, `noPermission`, `notMember`, `tooManyAdmins`.
    public func setAdministrator(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.userCall("admin.set", userID))
    }

    /// Makes a viewer an admin; for the owner.
    public func setAdministrator(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.userCall("admin.set", userID))
    }

    /// Revokes an admin's rights; for the owner.
    ///
    /// Errors of the completion: `needsOwner`.
    public func revokeAdministrator(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.userCall("admin.revoke", userID))
    }

    /// Revokes an admin's rights; for the owner.
    public func revokeAdministrator(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.userCall("admin.revoke", userID))
    }

    /// Removes a viewer, who may enter again, from the live; for the owner and admins.
    ///
    /// Errors of the completion: `needsOwnerOrAdmin`, `noPermission`, `notMember`.
    public func kickUserOutOfRoom(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.userCall("audience.kick", userID))
    }

    /// Removes a viewer, who may enter again, from the live; for the owner and admins.
    public func kickUserOutOfRoom(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.userCall("audience.kick", userID))
    }

    /// Mutes or unmutes a viewer; for the owner and admins.
    ///
    /// Errors of the completion: `needsOwnerOrAdmin`, `noPermission`, `overLimit`.
    public func disableSendMessage(userID: String, isDisable: Bool, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.muteCall(userID, isDisable: isDisable))
    }

    /// Mutes or unmutes a viewer; for the owner and admins.
    public func disableSendMessage(userID: String, isDisable: Bool) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.muteCall(userID, isDisable: isDisable))
    }

    private var fetchOperation: StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            if engine.currentLiveID == liveID { return try await engine.refresh(.audience) }
            // Outside the live the server rejects this call. It is made nevertheless, to throw the server's error.
            _ = try await engine.perform(
                StoreCall("audience.list", ["count": .whole(LiveAudienceState.maxListedViewers)]), in: liveID)
        }
    }

    private static func userCall(_ method: String, _ userID: String) -> StoreCall {
        StoreCall(method, ["user": .text(userID)])
    }

    private static func muteCall(_ userID: String, isDisable: Bool) -> StoreCall {
        // The duration −1 mutes without an end; 0 unmutes.
        StoreCall("live.mute", ["users": .texts([userID]), "duration": .whole(isDisable ? -1 : 0)])
    }
}
