// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The messages of a live.
public final class BarrageStore: Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The last 1,000 messages, including the user's own.
    public var state: StatePublisher<BarrageState> { self.stores.barrage }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> BarrageStore { LivePlaza.shared.barrageStore(liveID: liveID) }

    /// Sends a text message to all users of the live, including this one: `messageList` gets it from the feed.
    ///
    /// - Parameters:
    ///   - text: the text; together with `extensionInfo` at most 12,288 bytes.
    ///   - extensionInfo: the app's own values.
    ///   - completion: called when the message is durable. Errors: `messageTooLong`, `roomMuted`, `userMuted`,
    ///     `tooFrequent`, `sensitiveWords`, `droppedByBudget`, `notInRoom`.
    public func sendTextMessage(text: String, extensionInfo: [String: String]?, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.sendOperation(Self.textCall(text, extensionInfo)))
    }

    /// Sends a text message to all users of the live; see the method with a completion.
    public func sendTextMessage(text: String, extensionInfo: [String: String]? = nil) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.sendOperation(Self.textCall(text, extensionInfo)))
    }

    /// Sends a message whose content the app defines.
    ///
    /// - Parameters:
    ///   - businessID: the name of the app's feature.
    ///   - data: the content, usually JSON.
    ///   - completion: called when the message is durable. Errors: those of `sendTextMessage`.
    public func sendCustomMessage(businessID: String, data: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.sendOperation(Self.customCall(businessID, data)))
    }

    /// Sends a message whose content the app defines; see the method with a completion.
    public func sendCustomMessage(businessID: String, data: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.sendOperation(Self.customCall(businessID, data)))
    }

    /// Adds a message to the list of this client only; it is not sent.
    ///
    /// The client need not have entered the live. A message that is added before stays in the list when the client
    /// enters the live, before the messages of the live, if the app has held the store or a subscription to its state
    /// until then.
    public func appendLocalTip(message: Barrage) {
        let stores = self.stores
        stores.handle.run(nil) { engine async throws(ErrorInfo) in
            let liveID = stores.handle.liveID
            if engine.currentLiveID == liveID {
                engine.applyLocalChange(.tip(message), in: liveID)
            } else {
                stores.addLocalTip(message)
            }
        }
    }

    private static func textCall(_ text: String, _ extensionInfo: [String: String]?) -> StoreCall {
        StoreCall(
            "barrage.sendText",
            ["text": .text(text), "extensionInfo": extensionInfo.map { .object($0.mapValues { .text($0) }) }])
    }

    private static func customCall(_ businessID: String, _ data: String) -> StoreCall {
        StoreCall("barrage.sendCustom", ["businessID": .text(businessID), "data": .text(data)])
    }

    /// The operation that sends a message.
    ///
    /// If the server rejects the message because the user is muted, the states show the mute.
    private func sendOperation(_ call: StoreCall) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            do throws(ErrorInfo) {
                _ = try await engine.perform(call, in: liveID)
            } catch {
                if error.code == ReplyCode.userMuted.code { engine.applyLocalChange(.selfMuted, in: liveID) }
                throw error
            }
        }
    }
}
