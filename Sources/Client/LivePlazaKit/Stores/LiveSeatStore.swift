// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine
internal import PlazaModel
internal import PlazaWire

/// The seats of a live.
///
/// Each method may fail with the errors that its documentation names, and with `noSuchSeat`, `roomHasNoSeats`,
/// `tooFrequent` or `notInRoom`.
public final class LiveSeatStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The user on each seat, and each seat's region on the canvas.
    public var state: StatePublisher<LiveSeatState> { self.stores.seat }
    /// Publishes what hosts do with this user's own devices.
    public var liveSeatEventPublisher: PassthroughSubject<LiveSeatEvent, Never> { self.stores.seatEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LiveSeatStore { LivePlaza.shared.seatStore(liveID: liveID) }

    /// Takes a seat.
    ///
    /// In a live whose seats need an application, a viewer's call becomes an application that is open for 60 seconds.
    ///
    /// - Parameters:
    ///   - seatIndex: the seat; −1 for the lowest free one.
    ///   - completion: errors: `seatLocked`, `seatOccupied`, `allSeatsTaken`, `seatLimit`, `alreadySeated`.
    public func takeSeat(seatIndex: Int, completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.takeOperation(seatIndex))
    }

    /// Takes a seat.
    ///
    /// In a live whose seats need an application, a viewer's call becomes an application that is open for 60 seconds.
    public func takeSeat(seatIndex: Int) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.takeOperation(seatIndex))
    }

    private func takeOperation(_ seatIndex: Int) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        let call = StoreCall("seat.take", ["seatIndex": .whole(seatIndex)])
        return { engine async throws(ErrorInfo) in try await engine.performApplication(call, in: liveID) }
    }

    /// Leaves the seat.
    ///
    /// - Parameter completion: errors: `notOnSeat`.
    public func leaveSeat(completion: CompletionClosure? = nil) {
        self.stores.handle.run(completion, StoreCall("seat.leave"))
    }

    /// Leaves the seat.
    public func leaveSeat() async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("seat.leave"))
    }

    /// Mutes the user's microphone at once, and reports to the server that it is closed.
    ///
    /// The microphone stays muted until a later call unmutes or opens it, also if an earlier call to unmute or open it
    /// has not ended yet.
    public func muteMicrophone() {
        let liveID = self.stores.handle.liveID
        // No completion: nobody waits for the report, and an error is dropped.
        self.stores.handle.run(nil as CompletionClosure?) { engine async throws(ErrorInfo) in
            engine.sinks.devices()?.muteMicrophone()
            try await engine.reportDevice(.microphone, isOn: false, in: liveID)
        }
    }

    /// Reports to the server that the user's microphone is open, and unmutes it once the server has agreed.
    ///
    /// - Parameter completion: errors: `notOnSeat`, `seatMicrophoneLocked`, `microphoneNeedsHost`.
    public func unmuteMicrophone(completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.unmuteOperation)
    }

    /// Reports to the server that the user's microphone is open, and unmutes it once the server has agreed.
    public func unmuteMicrophone() async throws(ErrorInfo) {
        try await self.stores.handle.run(self.unmuteOperation)
    }

    private var unmuteOperation: StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            let muteCount = engine.sinks.devices()?.muteCount ?? 0
            try await engine.reportDevice(.microphone, isOn: true, in: liveID)
            engine.sinks.devices()?.unmuteMicrophone(unlessMutedSince: muteCount)
        }
    }

    /// Reports whether the user's camera is open.
    ///
    /// Not needed with `DeviceStore`, which reports the camera itself.
    ///
    /// Errors of the completion: `notOnSeat`, `seatCameraLocked`, `cameraNeedsHost`.
    public func reportCamera(isOn: Bool, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("seat.device", ["camera": .bool(isOn)]))
    }

    /// Reports whether the user's camera is open.
    ///
    /// Not needed with `DeviceStore`, which reports the camera itself.
    public func reportCamera(isOn: Bool) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("seat.device", ["camera": .bool(isOn)]))
    }

    /// Reports that the user is away, in another app or in a phone call, or is back.
    ///
    /// Errors of the completion: `notOnSeat`.
    public func reportSuspension(_ status: SuspendStatus, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("seat.device", ["suspend": .text(status.wireName)]))
    }

    /// Reports that the user is away, in another app or in a phone call, or is back.
    public func reportSuspension(_ status: SuspendStatus) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("seat.device", ["suspend": .text(status.wireName)]))
    }

    /// Reports how loud this user speaks; must be repeated each second while the user speaks.
    ///
    /// - Parameters:
    ///   - level: the speaking level, 0 (silent) to 100.
    ///   - completion: errors: `notOnSeat`.
    public func reportSpeaking(level: Int, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("seat.speaking", ["level": .whole(level)]))
    }

    /// Reports how loud this user speaks; must be repeated each second while the user speaks.
    public func reportSpeaking(level: Int) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("seat.speaking", ["level": .whole(level)]))
    }

    /// Removes a user from its seat; for the owner and admins.
    ///
    /// Errors of the completion: `notOnSeat`, `noPermission`.
    public func kickUserOutOfSeat(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("seat.kick", ["user": .text(userID)]))
    }

    /// Removes a user from its seat; for the owner and admins.
    public func kickUserOutOfSeat(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("seat.kick", ["user": .text(userID)]))
    }

    /// Moves a user to another seat; for the owner and admins.
    ///
    /// A guest on a seat may move itself, to a free seat only. The policy says what happens if the target seat is
    /// occupied; nil means `abortWhenOccupied`.
    ///
    /// Errors of the completion: `notOnSeat`, `seatOccupied`, `seatLocked`, `noPermission`.
    public func moveUserToSeat(
        userID: String, targetIndex: Int, policy: MoveSeatPolicy?, completion: CompletionClosure?
    ) {
        self.stores.handle.run(completion, Self.moveCall(userID, targetIndex, policy))
    }

    /// Moves a user to another seat; for the owner and admins.
    ///
    /// A guest on a seat may move itself, to a free seat only. The policy says what happens if the target seat is
    /// occupied; nil means `abortWhenOccupied`.
    public func moveUserToSeat(userID: String, targetIndex: Int, policy: MoveSeatPolicy?) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.moveCall(userID, targetIndex, policy))
    }

    /// Removes the occupant of a seat, and locks the seat; for the owner and admins.
    ///
    /// Errors of the completion: `noPermission`.
    public func lockSeat(seatIndex: Int, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockCall(seatIndex, isLocked: true))
    }

    /// Removes the occupant of a seat, and locks the seat; for the owner and admins.
    public func lockSeat(seatIndex: Int) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockCall(seatIndex, isLocked: true))
    }

    /// Unlocks a seat; for the owner and admins.
    ///
    /// Errors of the completion: `noPermission`.
    public func unlockSeat(seatIndex: Int, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockCall(seatIndex, isLocked: false))
    }

    /// Unlocks a seat; for the owner and admins.
    public func unlockSeat(seatIndex: Int) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockCall(seatIndex, isLocked: false))
    }

    /// Closes and locks a user's camera; for the owner and admins.
    ///
    /// Errors of the completion: `failed` if the user sits on no seat, `noPermission`.
    public func closeRemoteCamera(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockDeviceCall(userID, "camera", isLocked: true))
    }

    /// Closes and locks a user's camera; for the owner and admins.
    public func closeRemoteCamera(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockDeviceCall(userID, "camera", isLocked: true))
    }

    /// Unlocks a user's camera, so that the user may open it again; for the owner and admins.
    ///
    /// Errors of the completion: as for `closeRemoteCamera`.
    public func openRemoteCamera(userID: String, policy: DeviceControlPolicy, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockDeviceCall(userID, "camera", isLocked: false))
    }

    /// Unlocks a user's camera, so that the user may open it again; for the owner and admins.
    public func openRemoteCamera(userID: String, policy: DeviceControlPolicy) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockDeviceCall(userID, "camera", isLocked: false))
    }

    /// Closes and locks a user's microphone; for the owner and admins.
    ///
    /// Errors of the completion: as for `closeRemoteCamera`.
    public func closeRemoteMicrophone(userID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockDeviceCall(userID, "microphone", isLocked: true))
    }

    /// Closes and locks a user's microphone; for the owner and admins.
    public func closeRemoteMicrophone(userID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockDeviceCall(userID, "microphone", isLocked: true))
    }

    /// Unlocks a user's microphone, so that the user may open it again; for the owner and admins.
    ///
    /// Errors of the completion: as for `closeRemoteCamera`.
    public func openRemoteMicrophone(userID: String, policy: DeviceControlPolicy, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.lockDeviceCall(userID, "microphone", isLocked: false))
    }

    /// Unlocks a user's microphone, so that the user may open it again; for the owner and admins.
    public func openRemoteMicrophone(userID: String, policy: DeviceControlPolicy) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.lockDeviceCall(userID, "microphone", isLocked: false))
    }

    /// The call that moves a user; the protocol names the policies by numbers.
    private static func moveCall(_ userID: String, _ targetIndex: Int, _ policy: MoveSeatPolicy?) -> StoreCall {
        let policyNumber =
            switch policy {
            case .abortWhenOccupied, nil: 0
            case .forceReplace: 1
            case .swapPosition: 2
            }
        return StoreCall(
            "seat.move",
            ["user": .text(userID), "seatIndex": .whole(targetIndex), "policy": .whole(policyNumber)])
    }

    private static func lockCall(_ seatIndex: Int, isLocked: Bool) -> StoreCall {
        StoreCall("seat.lock", ["seatIndex": .whole(seatIndex), "locked": .bool(isLocked)])
    }

    /// The call that locks or unlocks a user's device.
    ///
    /// The call has no parameter for the policy, because `DeviceControlPolicy` has only one value.
    private static func lockDeviceCall(_ userID: String, _ device: String, isLocked: Bool) -> StoreCall {
        StoreCall("seat.lockDevice", ["user": .text(userID), "device": .text(device), "locked": .bool(isLocked)])
    }
}
