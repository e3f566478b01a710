// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// Notices: the gateway stores them, and sends each one once to every device of its user.
extension SimulatedGateway {
    /// Stores a notice, and sends it to the connections of its user.
    mutating func noticeReceived(_ notice: Notice) {
        self.noticeOffset += 1
        let id = NoticeID(partition: 0, offset: self.noticeOffset)
        let json = notice.content.isForClients ? Wire.encode(ServerFrame.notice(id: id.text, notice)) : []
        let entry = NoticeRing.Entry(id: id, notice: notice, json: json)
        guard self.notices.append(entry, at: self.now) else { return }
        for number in self.connections.keys.sorted() {
            guard let connection = self.connections[number], connection.core.isLoggedIn,
                connection.userKey == notice.to
            else { continue }
            if !notice.content.isForClients {
                self.signInNoticeReceived(notice.content, connection)
            } else if id.offset > connection.lastNoticeOffset {
                self.connections[number]?.lastNoticeOffset = id.offset
                self.deliver(entry, to: number)
            }
        }
    }

    /// Handles the notice that a user has signed in, for a connection of the same user.
    ///
    /// Gateways tell each other of a sign-in by such a notice; clients do not get it.
    private mutating func signInNoticeReceived(_ content: NoticeContent, _ connection: SimulatedConnection) {
        // A code is returned if the sign-in, on another device or in the same session, ends this connection.
        let code = self.connections[connection.number]?.signIn.noticeReceived(content, ownSession: connection.session)
        if let code { self.disconnect(connection.number, code) }
    }

    /// Sends a notice to one client; a kick also removes the client from the live, because a kick is final
    /// (docs/RULES.md, I6).
    mutating func deliver(_ entry: NoticeRing.Entry, to number: Int) {
        if case .kickedOut(let reason, _) = entry.notice.content, let floor = entry.notice.floor {
            let isRemoved =
                self.connections[number]?.core.kicked(from: entry.notice.live, lowestValidTicket: floor) ?? false
            // This kick removes the user's other devices, because the user has joined on a new device. The new device
            // stays in the live, so it gets no notice.
            if reason == .byLoggedOnOtherDevice, !isRemoved, self.connections[number]?.core.membership != .outside {
                return
            }
            if isRemoved { self.connections[number]?.live = nil }
        }
        self.send(entry.json, to: number)
    }
}
