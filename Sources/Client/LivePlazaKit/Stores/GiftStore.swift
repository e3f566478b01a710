// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaModel
internal import PlazaWire

/// The gifts of a live.
public final class GiftStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The app's gifts; empty until `refreshUsableGifts` has read them.
    public var state: StatePublisher<GiftState> { self.stores.gift }
    /// Publishes the gifts that are sent, including the user's own; a sender, too, shows the animation when it receives
    /// the event.
    public var giftEventPublisher: PassthroughSubject<GiftEvent, Never> { self.stores.giftEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> GiftStore { LivePlaza.shared.giftStore(liveID: liveID) }

    /// Sets the language of the gifts' names and descriptions, from the next refresh on.
    ///
    /// The choice lasts as long as the client is in the live, or the app holds a store of the live or a subscription to
    /// one.
    ///
    /// - Parameter language: such as `en` or `zh-CN`.
    public func setLanguage(_ language: String) { self.stores.giftLanguage = language }

    /// Reads the app's gifts into `usableGifts`; no other method reads them.
    ///
    /// - Parameter completion: errors: `notInRoom`.
    public func refreshUsableGifts(completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.refreshOperation)
    }

    /// Reads the app's gifts into `usableGifts`; no other method reads them.
    public func refreshUsableGifts() async throws(ErrorInfo) {
        try await self.stores.handle.run(self.refreshOperation)
    }

    /// Sends a gift to the owner of the live.
    ///
    /// - Parameters:
    ///   - giftID: one of `usableGifts`.
    ///   - count: how many of the gift each receiver gets, 1 to 255.
    ///   - completion: errors: `giftsNotEnabled`, `noSuchGift`, `giftsOffInLive`, `giftCheckFailed`, and the app's own
    ///     codes 102100 to 102200.
    public func sendGift(giftID: String, count: UInt, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.sendCall(giftID, count, receivers: nil))
    }

    /// Sends a gift to the owner of the live.
    public func sendGift(giftID: String, count: UInt) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.sendCall(giftID, count, receivers: nil))
    }

    /// Sends a gift to each user of `receivers`, who must be in the live.
    ///
    /// Errors of the completion: as for a gift to the owner, and `notMember`.
    public func sendGift(giftID: String, count: UInt, receivers: [String], completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.sendCall(giftID, count, receivers: receivers))
    }

    /// Sends a gift to each user of `receivers`, who must be in the live.
    public func sendGift(giftID: String, count: UInt, receivers: [String]) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.sendCall(giftID, count, receivers: receivers))
    }

    /// Enables or disables gifts in this live; for the owner and admins.
    ///
    /// Errors of the completion: `needsOwnerOrAdmin`.
    public func setGiftEnabled(isEnabled: Bool, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("live.update", ["isGiftEnabled": .bool(isEnabled)]))
    }

    /// Enables or disables gifts in this live; for the owner and admins.
    public func setGiftEnabled(isEnabled: Bool) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("live.update", ["isGiftEnabled": .bool(isEnabled)]))
    }

    private var refreshOperation: StoreOperation<Void> {
        let stores = self.stores
        return { engine async throws(ErrorInfo) in
            var params: [String: JSONValue] = [:]
            if let language = stores.giftLanguage { params["language"] = .text(language) }
            try await engine.showList(in: stores.handle.liveID) { [params] engine async throws(ErrorInfo) in
                // The gifts are those of the app, so the call names no live.
                guard case .gifts(let categories) = try await engine.call("gift.list", params, live: nil) else {
                    throw .wrongResultKind
                }
                return .gifts(categories)
            }
        }
    }

    private static func sendCall(_ giftID: String, _ count: UInt, receivers: [String]?) -> StoreCall {
        StoreCall(
            "gift.send",
            ["gift": .text(giftID), "count": .whole(count), "receivers": receivers.map { .texts($0) }])
    }
}
