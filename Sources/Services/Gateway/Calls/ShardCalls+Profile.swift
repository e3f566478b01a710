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
    /// If the client is in a live, the call goes to presence (the `audience` machine), which tells the live's members;
    /// the gateway applies the change after a successful reply. Otherwise the gateway applies it immediately.
    ///
    /// - Parameters:
    ///   - frame: The call.
    ///   - client: The caller's connection.
    ///   - caller: The caller, as services get it.
    ///   - name: The new name; nil keeps the present one.
    ///   - avatarURL: The address of the new avatar; nil keeps the present one.
    ///   - stopwatch: Runs since the call was received.
    /// - Throws: The error with which the call is rejected.
    func updateProfile(
        _ frame: CallFrame, _ client: Client, _ caller: Caller, name: String?, avatarURL: String?,
        stopwatch: Stopwatch
    ) throws(ReplyError) {
        let caller = try caller.changingProfile(
            name: name, avatarURL: avatarURL, hasFixedName: client.hasFixedName, hasFixedAvatar: client.hasFixedAvatar)
        if let live = client.core.live {
            let input = AudienceInput(client.key(live), .profile(caller: caller))
            return try self.forward(.audience(input), frame.id, frame.method, .updateProfile(caller.user), client)
        }
        // The same checks as for a forwarded call; for example, a client must not change its profile while its join is
        // open. But no service gets the call, so it does not count as a forwarded one (R12.15).
        if self.isRepeated(frame.id, client) { return }
        try self.checkForwarding(frame.id, .updateProfile(caller.user), client)
        client.user = caller.user
        self.reply(
            frame.id, .success(result: .done), to: client, method: frame.method, stopwatch: stopwatch)
    }
}
