// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Changes of a user's name and avatar.
extension ShardCalls {
    /// Changes the user's displayed name and avatar, for later calls and in the live that the client is in.
    ///
    /// If the client is in a live, the change is made when presence has replied; otherwise immediately.
    func updateProfile(
        _ frame: CallFrame, _ client: Client, _ caller: Caller, name: String?, avatarURL: String?,
        stopwatch: Stopwatch
    ) throws(ReplyError) {
        let caller = try caller.changingProfile(
            name: name, avatarURL: avatarURL, hasFixedName: client.hasFixedName, hasFixedAvatar: client.hasFixedAvatar)
        if let live = client.core.live {
            let input = AudienceInput(client.key(live), .profile(caller: caller))
            return try self.forward(
                .audience(input), frame.id, frame.method, .updateProfile(caller.user), in: nil, client)
        }
        // For a client that is not in a live, the gateway changes the profile. The call must pass the checks of a
        // forwarded call.
        guard try self.canForward(frame.id, .updateProfile(caller.user), in: nil, client) else { return }
        client.user = caller.user
        self.reply(
            frame.id, .success(result: .done), to: client, method: frame.method, stopwatch: stopwatch)
    }
}
