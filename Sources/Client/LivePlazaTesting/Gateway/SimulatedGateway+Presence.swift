// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// What the gateway reports to presence: which members of the lives are connected, and which are no longer connected.
extension SimulatedGateway {
    /// Sends the heartbeats of all connected members.
    mutating func sendHeartbeats() {
        for live in self.connectedMembers() {
            let heartbeats = live.members.map { member in
                Heartbeat(
                    session: member.session, user: member.user.userID, ticket: member.ticket,
                    silentFor: member.silentFor)
            }
            self.write(.audience(AudienceInput(live.key, .heartbeats(beats: heartbeats))))
        }
    }

    /// Reports all connected members to presence, after presence has lost their leases.
    mutating func assertMembers() {
        for live in self.connectedMembers() {
            self.write(.audience(AudienceInput(live.key, .assert(members: live.members))))
        }
    }

    /// Sends the last heartbeat of a connection that has ended.
    mutating func sendLastHeartbeat(of connection: SimulatedConnection) {
        guard let live = connection.core.live, let ticket = connection.core.ticket else { return }
        let heartbeat = Heartbeat(
            session: connection.session, user: connection.user.userID, ticket: ticket,
            silentFor: connection.silence(at: self.now).count)
        self.write(.audience(AudienceInput(connection.key(live), .heartbeats(beats: [heartbeat]))))
    }

    /// Tells presence that the member of a connection is gone, because the client cannot resume.
    mutating func endMembership(of connection: SimulatedConnection) {
        guard let live = connection.core.live, let ticket = connection.core.ticket else { return }
        let command = AudienceCommand.signOff(
            session: connection.session, user: connection.user.userID, ticket: ticket)
        self.write(.audience(AudienceInput(connection.key(live), command)))
    }

    /// The members of one live that are connected to this gateway.
    private struct ConnectedMembers {
        let key: LiveKey
        let members: [MemberSession]
    }

    /// The connected members of each live, in a fixed order.
    private func connectedMembers() -> [ConnectedMembers] {
        var lives: [LiveKey: [MemberSession]] = [:]
        for number in self.connections.keys.sorted() {
            guard let connection = self.connections[number], let live = connection.core.live,
                let ticket = connection.core.ticket
            else { continue }
            // Scripted users are never silent.
            let silence = connection.isScripted ? Milliseconds(0) : connection.silence(at: self.now)
            lives[connection.key(live), default: []].append(
                MemberSession(
                    session: connection.session, user: connection.user, ticket: ticket, silentFor: silence.count))
        }
        return lives.sorted { $0.key < $1.key }.map { ConnectedMembers(key: $0.key, members: $0.value) }
    }
}
