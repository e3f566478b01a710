// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaModel
internal import PlazaWire

/// The list of lives, and the live that the client is in.
///
/// After each event of `liveListEventPublisher` the client is in no live.
public final class LiveListStore: @unchecked Sendable {
    private let engine: PlazaEngine

    /// The lives on the pages that were read, and the live that the client is in.
    public let state = StatePublisher(initialState: LiveListState())
    /// Publishes why the client is no longer in its live, although it did not leave.
    public let liveListEventPublisher = PassthroughSubject<LiveListEvent, Never>()

    /// The number of lists that were begun: of fetches without a cursor, and of resets.
    let listNumber = Locked(0)

    init(engine: PlazaEngine) { self.engine = engine }

    /// The store of the default client.
    public static var shared: LiveListStore { LivePlaza.shared.liveListStore }

    /// Reads a page of the list of public lives.
    ///
    /// With an empty cursor the first page replaces `liveList`; with another cursor the page is appended. A cursor that
    /// has expired, or that belongs to another gateway, is no error: the list is then read again from its beginning.
    ///
    /// - Parameters:
    ///   - cursor: empty for the first page; then the state's `liveListCursor`, which is empty after the last page.
    ///   - count: the number of lives on the page, 1 to 50.
    ///   - completion: errors: `badParameter`.
    public func fetchLiveList(cursor: String, count: Int, completion: CompletionClosure?) {
        self.engine.start(completion, self.fetchOperation(cursor, LiveListQuery(count: count)))
    }

    /// Reads a page of the list of public lives; see the method with a completion.
    public func fetchLiveList(cursor: String, count: Int) async throws(ErrorInfo) {
        try await self.fetchOperation(cursor, LiveListQuery(count: count))(self.engine)
    }

    /// Reads a page of the list of public lives of one category.
    ///
    /// - Parameters:
    ///   - cursor: as in the method without a category.
    ///   - count: as in the method without a category.
    ///   - category: a number; lives are listed if their `categoryList` contains it.
    ///   - isDescending: whether the lives with the most joins come first.
    ///   - completion: errors: `badParameter`.
    public func fetchLiveList(
        cursor: String, count: Int, category: Int, isDescending: Bool = true, completion: CompletionClosure?
    ) {
        let query = LiveListQuery(count: count, category: category, isDescending: isDescending)
        self.engine.start(completion, self.fetchOperation(cursor, query))
    }

    /// Reads a page of the list of public lives of one category; see the method with a completion.
    public func fetchLiveList(
        cursor: String, count: Int, category: Int, isDescending: Bool = true
    ) async throws(ErrorInfo) {
        let query = LiveListQuery(count: count, category: category, isDescending: isDescending)
        try await self.fetchOperation(cursor, query)(self.engine)
    }

    /// Reads the info of a live.
    ///
    /// Errors of the completion: `noSuchRoom`.
    public func fetchLiveInfo(liveID: String, completion: LiveInfoCompletionClosure?) {
        self.engine.start(completion, self.infoOperation(liveID))
    }

    /// Reads the info of a live.
    public func fetchLiveInfo(liveID: String) async throws(ErrorInfo) -> LiveInfo {
        try await self.infoOperation(liveID)(self.engine)
    }

    /// Creates a live and enters it as its owner.
    ///
    /// The owner may call this again to return to the running live; the fields of `liveInfo` are then ignored.
    ///
    /// Errors of the completion: `roomExists`, `inAnotherRoom`, `createdTooOften`, `badRoomID`, `badRoomName`,
    ///   `badParameter`, `sensitiveWords`.
    public func createLive(_ liveInfo: LiveInfo, completion: LiveInfoCompletionClosure?) {
        self.engine.start(completion, self.createOperation(liveInfo))
    }

    /// Creates a live and enters it as its owner.
    public func createLive(_ liveInfo: LiveInfo) async throws(ErrorInfo) -> LiveInfo {
        try await self.createOperation(liveInfo)(self.engine)
    }

    /// Enters a live, whose stores then show its state.
    ///
    /// Errors of the completion: `noSuchRoomOnEntry`, `inAnotherRoom`, `roomFull`, `banned` (its `retryAfter` is the
    ///   time until the ban ends).
    public func joinLive(liveID: String, completion: LiveInfoCompletionClosure?) {
        self.engine.start(completion) { engine async throws(ErrorInfo) in try await engine.enter(liveID) }
    }

    /// Enters a live.
    public func joinLive(liveID: String) async throws(ErrorInfo) -> LiveInfo { try await self.engine.enter(liveID) }

    /// Leaves the live, which continues even if its owner leaves.
    ///
    /// - Parameter completion: errors: `notInRoom`.
    public func leaveLive(completion: CompletionClosure?) { self.engine.start(completion, self.leaveOperation) }

    /// Leaves the live.
    public func leaveLive() async throws(ErrorInfo) { try await self.leaveOperation(self.engine) }

    /// Ends the live for all users; only its owner may call this.
    ///
    /// `TUILiveStatisticsData` has its name from the API that LivePlazaKit follows.
    ///
    /// - Parameter completion: gets the final statistics. Errors: `needsOwner`, `notInRoom`.
    public func endLive(completion: StopLiveCompletionClosure?) { self.engine.start(completion, self.endOperation) }

    /// Ends the live for all users; only its owner may call this.
    public func endLive() async throws(ErrorInfo) -> TUILiveStatisticsData { try await self.endOperation(self.engine) }

    /// Changes the live that the client is in; for the owner and admins.
    ///
    /// - Parameters:
    ///   - liveInfo: the new values.
    ///   - modifyFlag: which fields of `liveInfo` to take.
    ///   - completion: errors: `needsOwnerOrAdmin`, `badRoomName`, `badParameter`, `tooManyTags`, `wrongRoomKind`,
    ///     `sensitiveWords`.
    public func updateLiveInfo(
        _ liveInfo: LiveInfo, modifyFlag: LiveInfo.ModifyFlag, completion: CompletionClosure?
    ) {
        self.engine.start(
            completion, self.currentLiveOperation("live.update", liveInfo.updateParams(modifyFlag), ifEmpty: .skip))
    }

    /// Changes the live that the client is in; see the method with a completion.
    public func updateLiveInfo(_ liveInfo: LiveInfo, modifyFlag: LiveInfo.ModifyFlag) async throws(ErrorInfo) {
        let params = liveInfo.updateParams(modifyFlag)
        try await self.currentLiveOperation("live.update", params, ifEmpty: .skip)(self.engine)
    }

    /// Adds to the live's metadata; for the owner and admins.
    ///
    /// - Parameters:
    ///   - metaData: the values to add or replace, by key. The live may have at most 10 keys, old and new together.
    ///   - completion: errors: `needsOwnerOrAdmin`, `tooManyMetadataKeys`, `metadataKeyTooLong`,
    ///     `metadataValueTooLong`, `metadataTooLong`.
    public func updateLiveMetaData(_ metaData: [String: String], completion: CompletionClosure?) {
        self.engine.start(completion, self.currentLiveOperation("metadata.set", Self.metadataParams(metaData)))
    }

    /// Adds to the live's metadata; see the method with a completion.
    public func updateLiveMetaData(_ metaData: [String: String]) async throws(ErrorInfo) {
        try await self.currentLiveOperation("metadata.set", Self.metadataParams(metaData))(self.engine)
    }

    /// Removes metadata; for the owner and admins.
    ///
    /// - Parameters:
    ///   - keys: the keys to remove, at least one.
    ///   - completion: errors: `needsOwnerOrAdmin`, `noSuchMetadataKey`.
    public func deleteLiveMetaData(keys: [String], completion: CompletionClosure?) {
        self.engine.start(completion, self.currentLiveOperation("metadata.delete", ["keys": .texts(keys)]))
    }

    /// Removes metadata; see the method with a completion.
    public func deleteLiveMetaData(keys: [String]) async throws(ErrorInfo) {
        try await self.currentLiveOperation("metadata.delete", ["keys": .texts(keys)])(self.engine)
    }

    /// Reads metadata of the live.
    ///
    /// - Parameters:
    ///   - keys: the keys to read; empty for all.
    ///   - completion: gets the values by key.
    public func queryMetaData(keys: [String], completion: MetaDataCompletionClosure?) {
        self.engine.start(completion, self.metadataOperation(keys))
    }

    /// Reads metadata of the live.
    public func queryMetaData(keys: [String]) async throws(ErrorInfo) -> [String: String] {
        try await self.metadataOperation(keys)(self.engine)
    }

    /// Clears the list of lives, but not the live that the client is in.
    public func reset() {
        self.engine.start(nil) { _ async throws(ErrorInfo) in
            self.listNumber.withLock { $0 += 1 }
            var state = LiveListState()
            state.currentLive = self.state.value.currentLive
            self.state.value = state
        }
    }

    private static func metadataParams(_ metaData: [String: String]) -> [String: JSONValue] {
        ["metadata": .object(metaData.mapValues { .text($0) })]
    }
}

extension LiveListStore {
    private func infoOperation(_ liveID: String) -> StoreOperation<LiveInfo> {
        return { engine async throws(ErrorInfo) in
            guard case .room(let details) = try await engine.call("live.get", [:], live: LiveID(liveID)) else {
                throw .wrongResultKind
            }
            return LiveInfo(details.info, totalViewerCount: details.audience.totalViewers)
        }
    }

    private func createOperation(_ info: LiveInfo) -> StoreOperation<LiveInfo> {
        return { engine async throws(ErrorInfo) in
            let params = info.creationParams.merging(["join": .bool(true)]) { _, new in new }
            let result = try await engine.call("live.create", params, live: LiveID(info.liveID))
            // If the result has no join, the server is too old to know the parameter `join`, or it has rejected the
            // join. A separate join then enters the live, or throws the reason.
            guard case .live(_, _, _, joined: _?) = result else { return try await engine.enter(info.liveID) }
            return try await engine.loadJoinedLive(info.liveID)
        }
    }

    private var leaveOperation: StoreOperation<Void> { self.currentLiveOperation("live.leave", [:]) }

    private var endOperation: StoreOperation<TUILiveStatisticsData> {
        return { engine async throws(ErrorInfo) in
            let liveID = try engine.currentLive
            guard case .statistics(let statistics, _) = try await engine.call("live.end", [:], live: liveID) else {
                throw .wrongResultKind
            }
            return TUILiveStatisticsData(statistics)
        }
    }

    private func metadataOperation(_ keys: [String]) -> StoreOperation<[String: String]> {
        return { engine async throws(ErrorInfo) in
            let params: [String: JSONValue] = keys.isEmpty ? [:] : ["keys": .texts(keys)]
            let liveID = try engine.currentLive
            guard case .metadata(let values) = try await engine.call("metadata.get", params, live: liveID) else {
                throw .wrongResultKind
            }
            return values
        }
    }

    /// What is done with a call without parameters: it is sent, or skipped because it would change nothing.
    private enum EmptyParams { case send, skip }

    /// The operation that makes a call about the live that the client is in.
    private func currentLiveOperation(
        _ method: String, _ params: [String: JSONValue], ifEmpty: EmptyParams = .send
    ) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            // `currentLive` comes first, so that a client in no live gets the error even if the call would be skipped.
            let liveID = try engine.currentLive
            if params.isEmpty, ifEmpty == .skip { return }
            _ = try await engine.call(method, params, live: liveID)
        }
    }
}

extension PlazaEngine {
    /// The live that the client is in.
    fileprivate var currentLive: LiveID {
        get throws(ErrorInfo) {
            try self.checkHasLogin()
            if self.currentLiveID.isEmpty {
                throw ErrorInfo(code: ReplyCode.notInRoom.code, message: "join a live first")
            }
            return LiveID(self.currentLiveID)
        }
    }
}

extension LiveListStore: ListSink {
    /// Shows new info of the live that the client is in, also in the list; called on the delivery queue.
    func change(ofCurrentLive info: LiveInfo, isRead: Bool) -> StateChange? {
        var state = self.state.value
        if state.currentLive == info { return nil }
        state.currentLive = info
        if isRead, let index = state.liveList.firstIndex(where: { $0.liveID == info.liveID }) {
            state.liveList[index] = info
        }
        return self.state.change(to: state)
    }

    /// Publishes why the client is no longer in its live; called on the delivery queue.
    func publish(_ event: LiveListEvent) { self.liveListEventPublisher.send(event) }
}
