// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct SeatParams: Decodable {
    var live: String
    var user: String?
    var seatIndex: Int?
    /// In seconds.
    var timeout: Int64?
    var extraInfo: String?
    /// The number of a `MoveSeatPolicy`; nil means 0.
    var policy: Int?
    var locked: Bool?
    var microphoneLocked: Bool?
    var cameraLocked: Bool?
    var microphone: Bool?
    var camera: Bool?
    var suspend: String?
    var device: String?
}

/// Parses `stage.get` and `seat.*`, except `seat.speaking`.
extension CallParser {
    /// The seat index with which a call requests any free seat.
    private static let anySeat = -1

    func parseStageCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        guard name == "get" else { throw Self.unknownMethodError(frame.method) }
        return .stage(try self.liveKey(frame.params(SeatParams.self).live).live)
    }

    func parseSeatCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(SeatParams.self)
        let key = try self.liveKey(params.live)
        func requiredUser() throws(ReplyError) -> UserID {
            guard let user = params.user else { throw ReplyError(.badParameter, "params.user is missing") }
            return try self.userID(user)
        }
        func requiredSeatIndex() throws(ReplyError) -> Int {
            guard let index = params.seatIndex else { throw ReplyError(.badParameter, "params.seatIndex is missing") }
            return index
        }
        let command: SeatCommand
        switch name {
        case "apply":
            command = .apply(
                seatIndex: params.seatIndex ?? Self.anySeat, timeoutSeconds: try self.requestTimeout(params.timeout),
                extraInfo: try self.boundedText(params.extraInfo, parameter: "extraInfo"), caller: self.caller)
        case "cancelApplication": command = .cancelApplication(caller: self.caller)
        case "acceptApplication": command = .acceptApplication(user: try requiredUser(), caller: self.caller)
        case "rejectApplication": command = .rejectApplication(user: try requiredUser(), caller: self.caller)
        case "invite":
            command = .invite(
                user: try requiredUser(), seatIndex: params.seatIndex ?? Self.anySeat,
                timeoutSeconds: try self.requestTimeout(params.timeout),
                extraInfo: try self.boundedText(params.extraInfo, parameter: "extraInfo"), caller: self.caller)
        case "cancelInvitation": command = .cancelInvitation(user: try requiredUser(), caller: self.caller)
        case "acceptInvitation": command = .acceptInvitation(inviter: try requiredUser(), caller: self.caller)
        case "rejectInvitation": command = .rejectInvitation(inviter: try requiredUser(), caller: self.caller)
        case "take": command = .take(seatIndex: try requiredSeatIndex(), caller: self.caller)
        case "leave": command = .leave(caller: self.caller)
        case "kick": command = .kickOff(user: try requiredUser(), caller: self.caller)
        case "move":
            guard let policy = MoveSeatPolicy(rawValue: params.policy ?? 0) else {
                throw ReplyError(.badParameter, "policy is \(params.policy ?? 0); 0, 1 and 2 are possible")
            }
            // A call that names no user moves the caller.
            command = .move(
                user: try params.user == nil ? self.caller.userID : requiredUser(), to: try requiredSeatIndex(),
                policy: policy,
                caller: self.caller)
        case "lock":
            // A call without `locked`, `microphoneLocked` and `cameraLocked` locks the seat itself.
            let omitsAllLocks = params.locked == nil && params.microphoneLocked == nil && params.cameraLocked == nil
            command = .lock(
                seatIndex: try requiredSeatIndex(), isLocked: omitsAllLocks ? true : params.locked,
                microphone: params.microphoneLocked,
                camera: params.cameraLocked, caller: self.caller)
        case "device":
            let suspend = try params.suspend.map { text throws(ReplyError) in
                guard let status = SuspendStatus(rawValue: text) else {
                    throw ReplyError(.badParameter, "suspend must be none, inBackground or inCalling")
                }
                return status
            }
            command = .device(
                microphone: params.microphone, camera: params.camera, suspend: suspend, caller: self.caller)
        case "lockDevice":
            guard let name = params.device else { throw ReplyError(.badParameter, "params.device is missing") }
            guard let device = Device(rawValue: name) else {
                throw ReplyError(.badParameter, "device must be microphone or camera")
            }
            command = .lockDevice(
                user: try requiredUser(), device: device, isLocked: params.locked ?? true, caller: self.caller)
        case "place":
            command = .place(user: try requiredUser(), seatIndex: params.seatIndex ?? Self.anySeat, caller: self.caller)
        case "requests": command = .requests(caller: self.caller)
        default: throw Self.unknownMethodError(frame.method)
        }
        // A user must be in the live; an app's server need not be in it.
        return .forward(.seat(SeatInput(key, command)), inLive: self.requiredLive(key.live))
    }
}
