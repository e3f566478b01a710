// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import LivePlazaCombine
internal import PlazaModel
internal import PlazaWire

/// The applications of viewers for seats, and the invitations of hosts.
///
/// A method that makes a request ends when the request is sent. The answer to the request is an event.
///
/// Methods may also fail with the codes of seats: `roomHasNoSeats`, `noSuchSeat`, `seatLocked`, `seatOccupied`,
/// `allSeatsTaken`, `seatLimit`, `alreadySeated`, and with `tooFrequent` and `notInRoom`.
public final class CoGuestStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The applicants, the invited viewers, and the users on seats.
    public var state: StatePublisher<CoGuestState> { self.stores.coGuest }
    /// Publishes events for the owner and the admins.
    public var hostEventPublisher: PassthroughSubject<HostEvent, Never> { self.stores.hostEvents }
    /// Publishes events for viewers and guests.
    public var guestEventPublisher: PassthroughSubject<GuestEvent, Never> { self.stores.guestEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> CoGuestStore { LivePlaza.shared.coGuestStore(liveID: liveID) }

    /// Applies for a seat.
    ///
    /// In a live whose seats need no application, the user gets the seat at once.
    ///
    /// After `timedOut` the application may be open: its answer is an event all the same, and another application then
    /// fails with `requestRepeated`. If the server does not have it, the event is `onGuestApplicationNoResponse`.
    ///
    /// - Parameters:
    ///   - seatIndex: the seat; −1 for any free one.
    ///   - timeout: how long the application is open, in seconds, 1 to 1,800.
    ///   - extraInfo: the app's own text, at most 2,048 bytes.
    ///   - completion: is called when the application is sent. Errors: `requestRepeated`, `requestConflict`,
    ///     `noPermission`.
    public func applyForSeat(
        seatIndex: Int = -1, timeout: TimeInterval, extraInfo: String?, completion: CompletionClosure?
    ) {
        self.stores.handle.run(completion, self.applyOperation(seatIndex, timeout, extraInfo))
    }

    /// Applies for a seat; see the method with a completion.
    public func applyForSeat(
        seatIndex: Int = -1, timeout: TimeInterval, extraInfo: String? = nil
    ) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.applyOperation(seatIndex, timeout, extraInfo))
    }

    /// Withdraws the user's application.
    ///
    /// - Parameter completion: errors: `failed` if none is open.
    public func cancelApplication(completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.cancelApplicationCall)
    }

    /// Withdraws the user's application.
    public func cancelApplication() async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.cancelApplicationCall)
    }

    /// Accepts an application, so that the applicant gets the seat; for the owner and admins.
    ///
    /// Errors of the completion: `requestGone`, `noPermission`. After an error about the seat the application stays
    /// open.
    public func acceptApplication(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerCall("seat.acceptApplication", userID))
    }

    /// Accepts an application, so that the applicant gets the seat; for the owner and admins.
    public func acceptApplication(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerCall("seat.acceptApplication", userID))
    }

    /// Declines an application; for the owner and admins.
    ///
    /// Errors of the completion: `requestGone`, `noPermission`.
    public func rejectApplication(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerCall("seat.rejectApplication", userID))
    }

    /// Declines an application; for the owner and admins.
    public func rejectApplication(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerCall("seat.rejectApplication", userID))
    }

    /// Invites a viewer to a seat; for the owner and admins.
    ///
    /// After `timedOut` the viewer stays in `CoGuestState.invitees` until the client has learned from the server
    /// whether the invitation is open.
    ///
    /// - Parameters:
    ///   - userID: the viewer.
    ///   - seatIndex: the seat; −1 for any free one.
    ///   - timeout: how long the invitation is open, in seconds, 1 to 1,800.
    ///   - extraInfo: the app's own text, at most 2,048 bytes.
    ///   - completion: is called when the invitation is sent. Errors: `notMember`, `userAlreadyOnSeat`,
    ///     `requestConflict`, `noPermission`.
    public func inviteToSeat(
        userID: String, seatIndex: Int = -1, timeout: TimeInterval, extraInfo: String?, completion: CompletionClosure?
    ) {
        self.stores.handle.run(completion, self.inviteOperation(userID, seatIndex, timeout, extraInfo))
    }

    /// Invites a viewer to a seat; see the method with a completion.
    public func inviteToSeat(
        userID: String, seatIndex: Int = -1, timeout: TimeInterval, extraInfo: String? = nil
    ) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.inviteOperation(userID, seatIndex, timeout, extraInfo))
    }

    /// Withdraws this user's invitation to a viewer.
    ///
    /// Errors of the completion: `failed` if none is open.
    public func cancelInvitation(inviteeID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.cancelInvitationCall(inviteeID))
    }

    /// Withdraws this user's invitation to a viewer.
    public func cancelInvitation(inviteeID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.cancelInvitationCall(inviteeID))
    }

    /// Accepts a host's invitation.
    ///
    /// Errors of the completion: `failed` if none is open.
    public func acceptInvitation(inviterID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerInvitationCall("seat.acceptInvitation", inviterID))
    }

    /// Accepts a host's invitation.
    public func acceptInvitation(inviterID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerInvitationCall("seat.acceptInvitation", inviterID))
    }

    /// Declines a host's invitation.
    ///
    /// Errors of the completion: `failed` if none is open.
    public func rejectInvitation(inviterID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerInvitationCall("seat.rejectInvitation", inviterID))
    }

    /// Declines a host's invitation.
    public func rejectInvitation(inviterID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerInvitationCall("seat.rejectInvitation", inviterID))
    }

    /// Leaves the user's seat.
    ///
    /// - Parameter completion: errors: `notOnSeat`.
    public func disConnect(completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("seat.leave"))
    }

    /// Leaves the user's seat.
    public func disConnect() async throws(ErrorInfo) { try await self.stores.handle.run(StoreCall("seat.leave")) }

    private func applyOperation(
        _ seatIndex: Int, _ timeout: TimeInterval, _ extraInfo: String?
    ) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        let call = StoreCall(
            "seat.apply",
            ["seatIndex": .whole(seatIndex), "timeout": .seconds(timeout), "extraInfo": .text(ifPresent: extraInfo)])
        return { engine async throws(ErrorInfo) in try await engine.performApplication(call, in: liveID) }
    }

    /// The operation that invites a viewer; the viewer is shown as invited even before the call is sent.
    ///
    /// If the connection is lost meanwhile, the viewer's answer may come before the reply to the call. Without the
    /// early change, the viewer would then be shown as invited after the answer.
    private func inviteOperation(
        _ userID: String, _ seatIndex: Int, _ timeout: TimeInterval, _ extraInfo: String?
    ) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        let call = StoreCall(
            "seat.invite",
            [
                "user": .text(userID), "seatIndex": .whole(seatIndex), "timeout": .seconds(timeout),
                "extraInfo": .text(ifPresent: extraInfo),
            ])
        return { engine async throws(ErrorInfo) in
            // If the call fails, the viewer is no longer shown as invited, unless an earlier invitation is still open.
            let isNew = !engine.states(of: liveID).coGuest.invitees.contains { $0.userID == userID }
            engine.applyLocalChange(.invited(user: userID), in: liveID)
            do throws(ErrorInfo) {
                let requests = [RequestName.ownInvitation(userID)]
                _ = try await engine.performRequest(call, requests, in: .seatRequests, of: liveID) { _ in requests }
            } catch {
                if isNew, !error.leavesOutcomeUnknown {
                    engine.applyLocalChange(.invitationCancelled(user: userID), in: liveID)
                }
                throw error
            }
        }
    }

    private static var cancelApplicationCall: StoreCall {
        StoreCall("seat.cancelApplication", then: .applicationCancelled)
    }

    private static func answerInvitationCall(_ method: String, _ inviterID: String) -> StoreCall {
        StoreCall(method, ["user": .text(inviterID)], then: .invitationAnswered(host: inviterID))
    }

    private static func answerCall(_ method: String, _ userID: String) -> StoreCall {
        StoreCall(method, ["user": .text(userID)], then: .applicationAnswered(user: userID))
    }

    private static func cancelInvitationCall(_ userID: String) -> StoreCall {
        StoreCall("seat.cancelInvitation", ["user": .text(userID)], then: .invitationCancelled(user: userID))
    }
}

extension PlazaEngine {
    /// Makes a call that seats the user at once, or becomes an application.
    func performApplication(_ call: StoreCall, in liveID: String) async throws(ErrorInfo) {
        let requests = [RequestName.ownApplication]
        _ = try await self.performRequest(call, requests, in: .seatRequests, of: liveID) { result in
            // A result with a seat's index means that the user sits there already.
            if case .seat(index: .some) = result { [] } else { requests }
        }
    }
}
