// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// What happens by time alone: one sweep for all connections, heartbeats, assertions, and the end.
extension Shard {
    /// Ten times a second.
    func sweep() {
        let now = self.now
        self.sweepCalls(at: now)
        self.sweepRequests(at: now)
        self.sweepReaders(at: now)
        self.sweepEntering(at: now)
        self.sweepAsking(at: now)
        self.sweepConnections(at: now)
        for room in self.roomList where room.count != nil { self.sendCount(room, at: now) }
        self.continueAsserting()
        self.gateway.metrics.add(self.ledger, since: self.publishedLedger)
        self.publishedLedger = self.ledger
        if self.isDraining { self.continueDraining() }
    }

    /// Ends overdue calls, and sends unanswered ones again with the same request id.
    private func sweepCalls(at now: Timestamp) {
        let mayResend = self.gateway.isBrokerThere
        var index = 0
        while index < self.calling.count {
            let client = self.calling[index]
            if !client.isDetached {
                for ended in client.core.sweep(at: now) { self.conclude(ended, client) }
                if mayResend { self.resend(client.core.dueAgain(at: now)) }
            }
            if client.isDetached || client.core.openCalls == 0 {
                client.isSwept = false
                self.calling[index] = self.calling[self.calling.count - 1]
                self.calling.removeLast()
            } else {
                index += 1
            }
        }
    }

    /// Writes records again; one that is not taken now is tried again later.
    func resend(_ records: [SentRecord]) {
        for sent in records { try? self.write(sent.record, token: 0) }
    }

    /// Ends readers that have not caught up for too long.
    private func sweepReaders(at now: Timestamp) {
        if self.behind.isEmpty { return }
        let patience = self.gateway.settings.budget.patience
        self.behind.removeAll { client in
            guard let backlog = client.backlog, !client.isDetached else { return true }
            if client.socket.pendingBytes == 0 {
                self.catchUp(client)
                return client.backlog == nil
            }
            guard now - backlog.since >= patience else { return false }
            self.disconnect(client, .slowReader)
            return true
        }
    }

    /// Lets in those whose partition could not be read in time; they begin with whatever comes next.
    private func sweepEntering(at now: Timestamp) {
        while let first = self.entering.first, first.until <= now {
            self.entering.removeFirst()
            self.complete(first)
        }
    }

    /// Looks at a tenth of the connections: logins and tokens whose time is over, sign-ins that were lost.
    private func sweepConnections(at now: Timestamp) {
        let connections = self.group.connections
        if self.sweepPosition >= connections.count { self.sweepPosition = 0 }
        let end = min(connections.count, self.sweepPosition + connections.count / 10 + 1)
        for connection in connections[self.sweepPosition..<end] {
            guard let client = connection.context as? Client, !client.isDetached else { continue }
            if let code = client.core.overdue(at: now) {
                self.disconnect(client, code)
            } else if client.core.isLoggedIn,
                client.signIn.isDueAgain(
                    lastSign: Timestamp(milliseconds: Int64(connection.lastReceivedMilliseconds)))
            {
                self.repeatSignIn(client)
            }
        }
        self.sweepPosition = end
    }

    /// A step of the heartbeat round: tells presence of a part of each room's members.
    func beat() {
        self.heartbeatStep += 1
        let now = self.loop.nowMilliseconds
        // From the end, for a room without members goes when it has told of its last closed socket.
        for index in self.roomList.indices.reversed() {
            let room = self.roomList[index]
            var beats: [Beat] = room.departed.map { departed in
                Beat(
                    session: departed.session, user: departed.user, ticket: departed.ticket,
                    silentFor: Int64(now - min(now, departed.lastSign)))
            }
            room.departed = []
            for member in room.walk.turn(step: self.heartbeatStep, members: room.viewers.count) {
                let client = room.viewers[member]
                guard let ticket = client.core.ticket else { continue }
                let silence = now - min(now, client.socket.lastReceivedMilliseconds)
                beats.append(
                    Beat(
                        session: client.session, user: client.user.userID, ticket: ticket, silentFor: Int64(silence)))
            }
            self.tell(beats, of: room)
            if room.viewers.isEmpty { self.drop(room) }
        }
    }

    private func tell(_ beats: [Beat], of room: Room) {
        var start = 0
        while start < beats.count {
            let end = min(beats.count, start + HeartbeatPlan.chunk)
            let input = AudienceInput(room.key, .heartbeats(beats: Array(beats[start..<end])))
            // A heartbeat that is not taken now is followed by others long before the lease ends.
            try? self.write(TopicRecord(.audience(input)), token: 0)
            self.gateway.metrics.beats.add(end - start)
            start = end
        }
    }

    /// Presence began anew in a partition.
    func beginAsserting(_ partition: Int) {
        let partitions = self.gateway.settings.partitions
        self.asserting.removeAll { PlazaTopic.partition(of: $0.room.key.text, among: partitions) == partition }
        for room in self.roomList
        where !room.viewers.isEmpty && PlazaTopic.partition(of: room.key.text, among: partitions) == partition {
            self.asserting.append((room, 0))
        }
        self.continueAsserting()
    }

    /// Tells presence of some more members: not all at once, for there may be very many.
    private func continueAsserting() {
        var chunks = 20
        let now = self.loop.nowMilliseconds
        while chunks > 0, let (room, from) = self.asserting.first {
            let end = min(room.viewers.count, from + HeartbeatPlan.chunk)
            if from < end {
                let members = room.viewers[from..<end].compactMap { client -> Presence? in
                    guard let ticket = client.core.ticket else { return nil }
                    let silence = now - min(now, client.socket.lastReceivedMilliseconds)
                    return Presence(
                        session: client.session, user: client.user, ticket: ticket, silentFor: Int64(silence))
                }
                let input = AudienceInput(room.key, .assert(members: members))
                do throws(SinkRefusal) {
                    try self.write(TopicRecord(.audience(input)), token: 0)
                } catch {
                    // The rest is told at the next sweep.
                    return
                }
            }
            chunks -= 1
            if end >= room.viewers.count { self.asserting.removeFirst() } else { self.asserting[0].from = end }
        }
    }

    /// The gateway stops: no new connections, and those there are told to go.
    func beginDraining() {
        if self.isDraining { return }
        self.isDraining = true
        self.server?.stopListening()
        let within = self.gateway.settings.drain.count / 2
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.drain(reconnectWithin: within)).span)
        for connection in self.group.connections { connection.send(frame) }
        self.continueDraining()
    }

    /// Closes a share of the connections at each sweep, so that their reconnects are spread; then the loop ends.
    private func continueDraining() {
        self.drainTicks += 1
        let ticks = max(1, Int(self.gateway.settings.drain.count) / 2 / Int(Self.sweepMilliseconds))
        let open = self.group.connections.filter { $0.state == .open }
        let share = self.drainTicks >= ticks ? open.count : open.count / (ticks - self.drainTicks + 1)
        for connection in open.prefix(share) {
            if let client = connection.context as? Client {
                self.disconnect(client, .draining)
            } else {
                connection.close(
                    CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
            }
        }
        let isOver = self.drainTicks >= 2 * ticks - 1
        if isOver || self.group.count == 0 { self.end() }
    }

    /// Ends the loop; what waits over HTTP is refused.
    private func end() {
        for session in self.requests.keys.sorted() {
            self.finish(session, .failure(error: ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)))
        }
        self.loop.stop()
    }
}
