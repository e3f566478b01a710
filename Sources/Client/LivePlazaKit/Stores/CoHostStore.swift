// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import LivePlazaCombine
internal import PlazaModel
internal import PlazaWire

/// The connection of a live with the lives of other hosts.
///
/// In the names and comments of this API a *host* is the owner of a live. Only the owner of this live can call the
/// methods; viewers can read `state.connected`.
public final class CoHostStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The hosts who are connected, who were asked, and who can be asked.
    public var state: StatePublisher<CoHostState> { self.stores.coHost }
    /// Publishes requests and their ends, and hosts who join and leave.
    public var coHostEventPublisher: PassthroughSubject<CoHostEvent, Never> { self.stores.coHostEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> CoHostStore { LivePlaza.shared.coHostStore(liveID: liveID) }

    /// Asks the host of another live to connect.
    ///
    /// After `timedOut` the host stays in `CoHostState.invitees` until the client has learned from the server whether
    /// the request is open.
    ///
    /// - Parameters:
    ///   - liveId: the other live.
    ///   - layoutTemplate: how the hosts are arranged.
    ///   - timeout: how long the request is open, in seconds, 1 to 1,800.
    ///   - extraInfo: the app's own text, at most 2,048 bytes.
    ///   - completion: called when the request is sent or has failed. Errors: `noSuchRoom`, `alreadyConnected`,
    ///     `connectionPending`, `connectedElsewhere`, `connectionLimit`, `wrongRoomKind`, `connectionTooFrequent`,
    ///     `overLimit`, `needsOwner`.
    public func requestHostConnection(
        targetHost liveId: String, layoutTemplate: CoHostLayoutTemplate, timeout: TimeInterval, extraInfo: String = "",
        completion: CompletionClosure?
    ) {
        self.stores.handle.run(completion, self.requestOperation(liveId, layoutTemplate, timeout, extraInfo))
    }

    /// Asks the host of another live to connect; see the method with a completion.
    public func requestHostConnection(
        targetHost liveId: String, layoutTemplate: CoHostLayoutTemplate, timeout: TimeInterval, extraInfo: String = ""
    ) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.requestOperation(liveId, layoutTemplate, timeout, extraInfo))
    }

    /// Withdraws a request.
    ///
    /// Errors of the completion: `noSuchConnection`.
    public func cancelHostConnection(toHostLiveID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.endRequestCall("cohost.cancel", invitee: toHostLiveID))
    }

    /// Withdraws a request.
    public func cancelHostConnection(toHostLiveID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.endRequestCall("cohost.cancel", invitee: toHostLiveID))
    }

    /// Accepts a host's request.
    ///
    /// Errors of the completion: `noSuchConnection`, `alreadyConnected`, `connectedElsewhere`, `connectionLimit`,
    /// `overLimit`.
    public func acceptHostConnection(fromHostLiveID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.endRequestCall("cohost.accept", inviter: fromHostLiveID))
    }

    /// Accepts a host's request.
    public func acceptHostConnection(fromHostLiveID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.endRequestCall("cohost.accept", inviter: fromHostLiveID))
    }

    /// Declines a host's request.
    ///
    /// Errors of the completion: `noSuchConnection`.
    public func rejectHostConnection(fromHostLiveID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.endRequestCall("cohost.reject", inviter: fromHostLiveID))
    }

    /// Declines a host's request.
    public func rejectHostConnection(fromHostLiveID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.endRequestCall("cohost.reject", inviter: fromHostLiveID))
    }

    /// Leaves the connection; the others stay connected.
    ///
    /// - Parameter completion: called at the end. Errors: `noSuchConnection`.
    public func exitHostConnection(completion: CompletionClosure? = nil) {
        self.stores.handle.run(completion, StoreCall("cohost.exit"))
    }

    /// Leaves the connection; the others stay connected.
    public func exitHostConnection() async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("cohost.exit"))
    }

    /// Reads a page of 20 lives that could be asked to connect, and adds them to `state.candidates`.
    ///
    /// If the cursor has expired, the list is read from its beginning.
    ///
    /// - Parameters:
    ///   - cursor: the state's `candidatesCursor`; empty to read from the beginning.
    ///   - completion: called at the end. Errors: `needsOwner`; `notInRoom` if the owner is not in the live.
    public func getCoHostCandidates(cursor: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.candidatesOperation(cursor))
    }

    /// Reads a page of 20 lives that could be asked to connect, and adds them to `state.candidates`.
    ///
    /// If the cursor has expired, the list is read from its beginning.
    public func getCoHostCandidates(cursor: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.candidatesOperation(cursor))
    }

    /// Mutes or unmutes the sound of another host in this live's mix; `liveID` is the live of that host.
    ///
    /// The other host is not notified.
    ///
    /// Errors of the completion: `noSuchConnection`, `needsOwnerOrAdmin`.
    public func muteRemoteHostAudio(liveID: String, isMuted: Bool, completion: CompletionClosure?) {
        self.stores.handle.run(
            completion, StoreCall("cohost.muteRemote", ["other": .text(liveID), "muted": .bool(isMuted)]))
    }

    /// Mutes or unmutes the sound of another host in this live's mix; `liveID` is the live of that host.
    ///
    /// The other host is not notified.
    public func muteRemoteHostAudio(liveID: String, isMuted: Bool) async throws(ErrorInfo) {
        try await self.stores.handle.run(
            StoreCall("cohost.muteRemote", ["other": .text(liveID), "muted": .bool(isMuted)]))
    }

    /// The operation that asks a host to connect; the host is shown as asked even before the call is sent.
    private func requestOperation(
        _ target: String, _ layout: CoHostLayoutTemplate, _ timeout: TimeInterval, _ extraInfo: String
    ) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        let call = StoreCall(
            "cohost.request",
            [
                "to": .texts([target]), "layoutTemplate": .whole(layout.rawValue), "timeout": .seconds(timeout),
                "extensionInfo": .text(extraInfo),
            ])
        return { engine async throws(ErrorInfo) in
            // If the call fails, the host is no longer shown as asked, unless an earlier request is still open.
            let isNew = !engine.states(of: liveID).coHost.invitees.contains { $0.liveID == target }
            engine.applyLocalChange(.coHostRequested(lives: [target]), in: liveID)
            do throws(ErrorInfo) {
                let requests = [RequestName.ownCoHost(target)]
                _ = try await engine.performRequest(call, requests, in: .coHostRequests, of: liveID) {
                    result throws(ErrorInfo) in
                    guard case .coHost(let codes) = result else { throw .wrongResultKind }
                    // The result has a code for each live that the call names: here for one live. 0 means that its host
                    // was asked.
                    if let rejected = codes.first(where: { $0.code != 0 }) { throw Self.requestError(rejected) }
                    return requests
                }
            } catch {
                if isNew, !error.leavesOutcomeUnknown {
                    engine.applyLocalChange(.coHostRequestEnded(inviter: liveID, invitee: target), in: liveID)
                }
                throw error
            }
        }
    }

    /// The error for a live that cannot be asked: the server's reason, or the meaning of the code (R8.1).
    ///
    /// Code 2 can also mean that the lives are connected already; in that case the server's reason says so. Other
    /// codes, such as −1 for this live itself, become `badParameter`.
    private static func requestError(_ rejected: LiveCode) -> ErrorInfo {
        let meanings: [Int: ReplyCode] = [
            1: .noSuchRoom, 2: .connectionPending, 3: .connectedElsewhere, 4: .connectionLimit, 6: .wrongRoomKind,
        ]
        let reason = rejected.reason ?? meanings[rejected.code] ?? .badParameter
        return ErrorInfo(code: reason.code, message: "the live \(rejected.live) cannot be asked")
    }

    /// A call that ends a request of this live to `invitee`.
    private func endRequestCall(_ method: String, invitee: String) -> StoreCall {
        StoreCall(
            method, ["to": .texts([invitee])],
            then: .coHostRequestEnded(inviter: self.stores.handle.liveID, invitee: invitee))
    }

    /// A call that ends a request of `inviter` to this live.
    private func endRequestCall(_ method: String, inviter: String) -> StoreCall {
        StoreCall(
            method, ["inviter": .text(inviter)],
            then: .coHostRequestEnded(inviter: inviter, invitee: self.stores.handle.liveID))
    }

    private func candidatesOperation(_ cursor: String) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            do throws(ErrorInfo) {
                try await engine.readCandidates(cursor, in: liveID)
            } catch {
                if error.code != ReplyCode.cursorExpired.code || cursor.isEmpty { throw error }
                try await engine.readCandidates("", in: liveID)
            }
        }
    }
}

extension PlazaEngine {
    /// Reads a page of the lives that could be asked to connect, and shows their hosts.
    ///
    /// The server also answers an owner who is not in the live, whose stores then show nothing.
    fileprivate func readCandidates(_ cursor: String, in liveID: String) async throws(ErrorInfo) {
        let call = StoreCall("cohost.candidates", ["cursor": cursor.isEmpty ? nil : .text(cursor)])
        try await self.showList(in: liveID) { engine async throws(ErrorInfo) in
            guard case .lives(let lives, let nextCursor) = try await engine.perform(call, in: liveID) else {
                throw .wrongResultKind
            }
            return .candidates(lives, cursor: nextCursor, isFirst: cursor.isEmpty)
        }
    }
}
