// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// What a connection says of its user: that it signed in here, and how it is shown.
extension Shard {
    /// This connection of its session counts from now on; in an app that allows one device this session of its user does,
    /// unless another has signed in while it was away.
    ///
    /// - Parameters:
    ///   - client: who logs in; app, user and session are known.
    ///   - isNamed: whether the client named the session, which may then have a connection to another gateway.
    ///   - notice: the last notice that it has; nil: it begins anew.
    /// - Returns: the place of the session's connection to this gateway that it replaces, if there is one.
    /// - Throws: `signedInElsewhere`, or, in an app that allows one device, why the others cannot be told.
    func signIn(_ client: Client, isNamed: Bool, since notice: NoticeID?) throws(ReplyError) -> SessionRegistry.Place? {
        let isOnly = client.role == .user && self.gateway.settings.policies[client.app].devices == .one
        if isOnly, let notice {
            let partition = PlazaTopic.partition(of: client.userKey.text, among: self.gateway.settings.partitions)
            let (missed, _) = self.gateway.tables.notices(of: client.userKey, after: notice, partition: partition)
            if SignIn.wasEnded(missed.map(\.notice), own: client.session) {
                throw ReplyError(.signedInElsewhere, "you signed in on another device; log in anew to be here instead")
            }
        }
        client.signIn = SignIn(connection: self.bits(), isOnly: isOnly)
        var fault: ReplyError?
        let claim = self.gateway.registry.claim(client.session, shard: self.number) {
            if isOnly || isNamed { fault = self.tellSignIn(client) }
            // A session's other connection may be told later; a second device must not come in.
            return fault == nil || !isOnly
        }
        guard let claim else { throw fault ?? ReplyError(.unavailable, "the broker is away", retryAfter: 1000) }
        client.generation = claim.generation
        return claim.replaced
    }

    /// Writes the client's sign-in again.
    func repeatSignIn(_ client: Client) {
        // What is not taken now is written at a later sweep.
        self.gateway.registry.whileHeld(client.session, generation: client.generation) { _ = self.tellSignIn(client) }
    }

    /// Writes that the user signed in here: gateways that have older connections end them.
    ///
    /// - Returns: why that could not be written, if so.
    private func tellSignIn(_ client: Client) -> ReplyError? {
        let content = client.signIn.write(client.session, at: self.now)
        let notice = Notice(
            to: client.userKey, live: LiveID(""), at: Timestamp(milliseconds: WallClock.milliseconds()),
            content: content)
        do throws(ReplyError) {
            _ = try self.write(TopicRecord(.notice(notice)), "login")
            return nil
        } catch {
            return error
        }
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
