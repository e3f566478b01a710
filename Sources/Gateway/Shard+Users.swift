// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// What a connection says of its user: that it signed in here, and how it is shown.
extension Shard {
    /// In an app that allows one device: this one counts from now on, unless another has signed in while it was away.
    ///
    /// - Parameters:
    ///   - client: who logs in; app, user and session are known.
    ///   - notice: the last notice that it has; nil: it begins anew.
    /// - Throws: `signedInElsewhere`, or why the others cannot be told.
    func signIn(_ client: Client, since notice: NoticeID?) throws(ReplyError) {
        client.signIn = SignIn()
        guard client.role == .user, self.gateway.settings.policies[client.app].devices == .one else { return }
        if let notice {
            let partition = PlazaTopic.partition(of: client.userKey.text, among: self.gateway.settings.partitions)
            let (missed, _) = self.gateway.tables.notices(of: client.userKey, after: notice, partition: partition)
            if SignIn.wasEnded(missed.map(\.notice), own: client.session) {
                throw ReplyError(.signedInElsewhere, "you signed in on another device; log in anew to be here instead")
            }
        }
        try self.tellSignIn(client)
    }

    /// Writes that the user signed in here: gateways that have older connections of it end them.
    func tellSignIn(_ client: Client) throws(ReplyError) {
        let notice = Notice(
            to: client.userKey, live: LiveID(""), at: Timestamp(milliseconds: WallClock.milliseconds()),
            content: .signedInElsewhere(session: client.session))
        _ = try self.write(TopicRecord(.notice(notice)), "login")
        client.signIn.written(at: self.now)
    }

    /// The user is shown otherwise from now on: in its live too, if it is in one.
    func rename(
        _ frame: ClientFrame, _ client: Client, _ caller: Caller, name: String?, avatarURL: String?, began: Int64
    ) throws(ReplyError) {
        if name != nil && client.hasFixedName || avatarURL != nil && client.hasFixedAvatar {
            throw ReplyError(.noPermission, "the token says how you are shown; log in with another one")
        }
        var caller = caller
        caller.user.userName = name ?? caller.user.userName
        caller.user.avatarURL = avatarURL ?? caller.user.avatarURL
        if let live = client.core.live {
            let input = AudienceInput(client.key(live), .profile(caller: caller))
            return try self.forward(.audience(input), frame, .rename(caller.user), nil, client)
        }
        guard try self.mayGoOn(frame.id, .rename(caller.user), nil, client) else { return }
        client.user = caller.user
        self.reply(frame.id, .success(result: .done), to: client, method: frame.method, began: began)
    }
}
