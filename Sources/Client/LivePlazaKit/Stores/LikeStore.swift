// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaWire

/// The likes of a live.
///
/// A tap is one like that this user sends. The total is the server's: it includes a tap only after the server has
/// counted the tap.
public final class LikeStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The total number of likes.
    public var state: StatePublisher<LikeState> { self.stores.like }
    /// Publishes the likes of all users, including this one.
    public var likeEventPublisher: PassthroughSubject<LikeEvent, Never> { self.stores.likeEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LikeStore { LivePlaza.shared.likeStore(liveID: liveID) }

    /// Sends likes.
    ///
    /// The taps of a call of this method are sent at once. The taps of further calls within the next two seconds are
    /// sent together at the end of the two seconds.
    ///
    /// - Parameters:
    ///   - count: the number of taps; 0 counts as 1, and more than 1,000 in two seconds count as 1,000.
    ///   - completion: is called when the server has counted the taps. Errors: `notInRoom`.
    public func sendLike(count: UInt = 1, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.likeOperation(count))
    }

    /// Sends likes; see the method with a completion.
    public func sendLike(count: UInt = 1) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.likeOperation(count))
    }

    /// The operation that sends likes: at once, or together with those of other calls after a pause.
    private func likeOperation(_ count: UInt) -> StoreOperation<Void> {
        let stores = self.stores
        return { engine async throws(ErrorInfo) in
            // Nil if the likes are sent at once.
            let batchedCall = stores.likeTaps.withLock { taps -> Task<Result<Void, ErrorInfo>, Never>? in
                // `count` is limited before the addition, so that the sum does not overflow.
                taps.count = min(LikeTaps.maxCount, taps.count + min(LikeTaps.maxCount, max(1, count)))
                // Collected taps come first, because they may still wait to be sent when the pause has just ended.
                if let batchedCall = taps.batchedCall { return batchedCall }
                guard taps.isPaused else { return nil }
                let newCall = engine.task { await $0.sendLikesAfterPause(of: stores) }
                taps.batchedCall = newCall
                return newCall
            }
            guard let batchedCall else { return try await engine.sendLikes(of: stores) }
            try await batchedCall.value.get()
        }
    }
}

/// The taps that were not sent yet.
struct LikeTaps: Sendable {
    /// The maximum number of likes in one call.
    static let maxCount: UInt = 1000
    /// The time in which taps are collected for one call.
    static let batchTime = Duration.seconds(2)

    /// The number of taps that the next call sends.
    var count: UInt = 0
    /// Whether a call was made less than `batchTime` ago, so that further taps wait.
    var isPaused = false
    /// The task that ends the pause.
    var pauseTask: Task<Void, Never>?
    /// The task of the next call, for which taps are being collected; nil if no tap waits.
    var batchedCall: Task<Result<Void, ErrorInfo>, Never>?
}

extension PlazaEngine {
    /// Sends the collected taps in one call, and begins the pause until the next call.
    fileprivate func sendLikes(of stores: LiveStores) async throws(ErrorInfo) {
        let count = stores.likeTaps.withLock { taps in
            defer { (taps.count, taps.isPaused, taps.batchedCall) = (0, true, nil) }
            return taps.count
        }
        let pauseTask = self.task { engine in
            await engine.sleep(for: LikeTaps.batchTime)
            stores.likeTaps.withLock { $0.isPaused = false }
        }
        stores.likeTaps.withLock { $0.pauseTask = pauseTask }
        _ = try await self.perform(StoreCall("like.send", ["count": .whole(count)]), in: stores.handle.liveID)
    }

    /// Waits for the end of the pause, and then sends the taps that were collected meanwhile.
    fileprivate func sendLikesAfterPause(of stores: LiveStores) async -> Result<Void, ErrorInfo> {
        await stores.likeTaps.withLock { $0.pauseTask }?.value
        do throws(ErrorInfo) {
            return .success(try await self.sendLikes(of: stores))
        } catch {
            return .failure(error)
        }
    }
}
