// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct CoHostParams: Decodable {
    var live: String
    /// The invited lives.
    var to: [String]?
    var inviter: String?
    var layoutTemplate: Int?
    /// In seconds.
    var timeout: Int64?
    var cursor: String?
    /// The live to mute.
    var other: String?
    var muted: Bool?
    var extensionInfo: String?
}

/// Parses `cohost.*`: co-host connections between lives.
extension CallParser {
    func parseCoHostCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(CoHostParams.self)
        let live = try self.liveKey(params.live).live
        func requiredInviter() throws(ReplyError) -> LiveID {
            guard let inviter = params.inviter else { throw ReplyError(.badParameter, "params.inviter is missing") }
            return try self.liveKey(inviter, parameter: "inviter").live
        }
        let command: ConnectionCommand
        switch name {
        case "request":
            command = .request(
                from: live, to: try self.invitedLives(params.to ?? []),
                layoutTemplate: params.layoutTemplate ?? 0, timeoutSeconds: try self.requestTimeout(params.timeout),
                extensionInfo: try self.boundedText(params.extensionInfo, parameter: "extensionInfo"),
                caller: self.caller)
        case "cancel":
            command = .cancelRequest(
                from: live, to: try self.invitedLives(params.to ?? []), caller: self.caller)
        case "accept": command = .accept(live: live, inviter: try requiredInviter(), caller: self.caller)
        case "reject": command = .reject(live: live, inviter: try requiredInviter(), caller: self.caller)
        case "exit": command = .exit(live: live, caller: self.caller)
        case "muteRemote":
            guard let other = params.other else { throw ReplyError(.badParameter, "params.other is missing") }
            command = .muteRemote(
                live: live, other: try self.liveKey(other, parameter: "other").live, isMuted: params.muted ?? true,
                caller: self.caller)
        case "requests": command = .openRequests(live: live, caller: self.caller)
        case "candidates": return .candidates(live, cursor: params.cursor ?? "", caller: self.caller)
        default: throw Self.unknownMethodError(frame.method)
        }
        return .forward(.connection(ConnectionInput(app: self.app, command)), inLive: self.requiredLive(live))
    }
}
