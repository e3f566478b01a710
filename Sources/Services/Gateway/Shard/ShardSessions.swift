// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// The logged-in clients of a shard (an event loop of the gateway), by session and by user.
///
/// It handles sign-ins, replaced connections and notices, which are messages to one user.
final class ShardSessions {
    private unowned let shard: Shard
    private let gateway: Gateway
    private var bySession: [SessionID: Client] = [:]
    /// The first of each user's clients; `nextOfUser` links the others.
    private var byUser: [UserKey: Client] = [:]
    private var random = SystemRandomNumberGenerator()

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Returns the session's client on this shard; nil if the session has no connection here.
    func client(of session: SessionID) -> Client? { self.bySession[session] }

    /// Opens the session of a client that logs in, and closes the session's earlier connection on any shard or gateway.
    ///
    /// - Parameters:
    ///   - client: The client; its app, user and session must be set.
    ///   - isNamed: Whether the client sent the session's name; the session may then have a connection to another
    ///     gateway.
    ///   - lastNotice: The id of the last notice that the client received; nil for a new session.
    ///   - expiry: When the token expires.
    /// - Throws: Only in an app that allows one device: `signedInElsewhere` if the user has signed in on another device
    ///   meanwhile; another error if the sign-in notice could not be written.
    func open(
        _ client: Client, isNamed: Bool, lastNotice: NoticeID?, expiry: MonotonicTime
    ) throws(ReplyError) {
        let replaced = try self.signIn(client, isNamed: isNamed, lastNotice: lastNotice)
        client.core.loggedIn(until: expiry)
        if let replaced {
            if Int(replaced.shard) == self.shard.number {
                self.sessionReplaced(client.session, generation: replaced.generation)
            } else {
                self.gateway.post(
                    Int(replaced.shard), [.sessionReplaced(client.session, generation: replaced.generation)])
            }
        }
        self.bySession[client.session] = client
        client.nextOfUser = self.byUser[client.userKey]
        self.byUser[client.userKey] = client
    }

    /// Closes a connection whose session was taken over by another connection; `generation` distinguishes the
    /// connections of one session.
    func sessionReplaced(_ session: SessionID, generation: UInt32) {
        guard let client = self.bySession[session], client.generation == generation else { return }
        self.shard.disconnect(client, .replaced)
    }

    /// Removes a client that the shard detaches: from both indices and from the gateway's session registry.
    func remove(_ client: Client) {
        if self.bySession[client.session] === client { self.bySession[client.session] = nil }
        self.unlink(client)
        if client.core.isLoggedIn {
            self.gateway.sessionRegistry.remove(client.session, generation: client.generation)
        }
    }

    /// Removes a client from the linked list of its user's clients.
    private func unlink(_ client: Client) {
        let key = client.userKey
        guard var current = self.byUser[key] else { return }
        if current === client {
            self.byUser[key] = client.nextOfUser
        } else {
            while let next = current.nextOfUser {
                if next === client {
                    current.nextOfUser = client.nextOfUser
                    break
                }
                current = next
            }
        }
        client.nextOfUser = nil
    }
}

/// Sign-ins: they decide which of a user's connections stays open.
extension ShardSessions {
    /// Claims the session for this connection.
    ///
    /// In an app that allows one device, the claim ends the user's other sessions. It fails if another device signed in
    /// while this device was disconnected.
    ///
    /// - Returns: The location of the session's earlier connection to this gateway, if there is one.
    private func signIn(
        _ client: Client, isNamed: Bool, lastNotice: NoticeID?
    ) throws(ReplyError) -> SessionRegistry.Location? {
        let allowsOneDevice = client.role == .user && self.gateway.settings.policies[client.app].devices == .one
        // `lastNotice` is set if the client reconnects: the missed notices say whether another device signed in.
        if allowsOneDevice, let lastNotice {
            let partition = PlazaTopic.partition(of: client.userKey.text, among: self.gateway.settings.partitions)
            let (missed, _) = self.gateway.tables.notices(of: client.userKey, after: lastNotice, partition: partition)
            if DeviceSignIn.wasSessionEnded(by: missed.map(\.notice), ownSession: client.session) {
                throw ReplyError(.signedInElsewhere, "you signed in on another device; log in anew to be here instead")
            }
        }
        client.signIn = DeviceSignIn(connection: self.random.next(), endsOtherSessions: allowsOneDevice)
        var writeError: ReplyError?
        let claim = self.gateway.sessionRegistry.claim(client.session, shard: self.shard.number) {
            if allowsOneDevice || isNamed { writeError = self.writeSignIn(client) }
            // In an app that allows one device, this device must not be admitted before its notice is written. In other
            // apps, the notice closes only the session's earlier connections, and may be written later.
            return writeError == nil || !allowsOneDevice
        }
        guard let claim else {
            // `writeError` is set, because only a failed write prevents the claim. The client may try again after
            // 1000 ms.
            throw writeError ?? ReplyError(.unavailable, "the broker is away", retryAfter: 1000)
        }
        client.generation = claim.generation
        return claim.replaced
    }

    /// Writes the client's sign-in notice again.
    func repeatSignIn(_ client: Client) {
        // The record sink, which queues records for the broker, may reject the notice; a later sweep writes it again.
        self.gateway.sessionRegistry.writeNoticeIfCurrent(client.session, generation: client.generation) {
            _ = self.writeSignIn(client)
        }
    }

    /// Writes the sign-in notice, which makes the gateways close older connections of the session, or of the user in an
    /// app that allows one device (`DeviceSignIn`).
    ///
    /// - Returns: The error that prevented the write; nil if the notice was written.
    private func writeSignIn(_ client: Client) -> ReplyError? {
        let content = client.signIn.makeNotice(for: client.session, at: self.shard.now)
        // A sign-in does not belong to a live, so the notice has an empty live id.
        let notice = Notice(
            to: client.userKey, live: LiveID(""), at: Gateway.clientTime, content: content)
        do throws(ReplyError) {
            // The sent record is ignored: it is for calls, which are sent again. `repeatSignIn` repeats a lost notice.
            _ = try self.shard.calls.send(TopicRecord(.notice(notice)), "login")
            return nil
        } catch {
            return error
        }
    }
}

/// Notices to users.
extension ShardSessions {
    /// Delivers a notice to all connections of its user on this shard.
    func noticeReceived(_ entry: NoticeRing.Entry, _ frame: SharedBytes) {
        var next = self.byUser[entry.notice.to]
        while let client = next {
            // The next client is read before this one is handled, because a disconnect removes this one from the list.
            next = client.nextOfUser
            // A sign-in notice is for gateways only: it may close this client's connection.
            if !entry.notice.content.isForClients {
                if let code = client.signIn.noticeReceived(entry.notice.content, ownSession: client.session) {
                    self.shard.disconnect(client, code)
                }
            } else if entry.id.offset > client.lastNoticeOffset {
                client.lastNoticeOffset = entry.id.offset
                self.deliver(entry, frame, to: client)
            }
        }
    }

    /// Sends a notice to one client; a kick also removes the client from the live (I6, docs/RULES.md).
    func deliver(_ entry: NoticeRing.Entry, _ frame: SharedBytes, to client: Client) {
        if case .kickedOut(let reason, _) = entry.notice.content, let lowestValidTicket = entry.notice.floor {
            let isRemoved = client.core.kicked(from: entry.notice.live, lowestValidTicket: lowestValidTicket)
            // The notice is for the user's other devices; the device that stays in the live does not get the notice.
            if reason == .byLoggedOnOtherDevice, !isRemoved, client.core.membership != .outside { return }
            if isRemoved {
                // `core` has left the live already. `client.live` is nil if the feed's partition is not loaded yet.
                if let live = client.live { self.shard.lives.remove(client, from: live) }
                // The client's joins that still wait for the partition fail.
                let error = ReplyError(
                    .staleTicket, "you were removed from the live; join it again", reason: reason.rawValue)
                for join in self.shard.joins.cancel(client) {
                    self.shard.send(.reply(id: join.call, .failure(error: error)), to: client)
                }
            }
        }
        client.socket.send(frame)
    }
}
