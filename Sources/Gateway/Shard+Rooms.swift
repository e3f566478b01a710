// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Who is in which live here: entering, going on where one was, leaving, and the live's end.
extension Shard {
    /// A client is in a live by presence's word: it gets the feed from now on, or from where it was.
    func enter(_ entering: Entering) {
        let client = entering.client
        if let room = client.room {
            // It joined again: a new ticket, and all else as it was.
            if room.key == entering.key { return self.send(.reply(id: entering.call, entering.outcome), to: client) }
            self.remove(client, from: room)
        }
        let isLoaded: Bool
        if let room = self.rooms[entering.key], !room.viewers.isEmpty {
            isLoaded = self.isLoaded(room)
        } else {
            isLoaded = self.gateway.feeds.subscribe(entering.key, shard: self.number)
        }
        if isLoaded { self.complete(entering) } else { self.entering.append(entering) }
    }

    /// A client that was to enter does not, after all.
    ///
    /// - Returns: the entries that waited.
    @discardableResult func cancelEntering(_ client: Client) -> [Entering] {
        if self.entering.isEmpty { return [] }
        let cancelled = self.entering.filter { $0.client === client }
        self.entering.removeAll { $0.client === client }
        for entering in cancelled { self.unsubscribeIfEmpty(entering.key) }
        return cancelled
    }

    /// A partition has been read up to its end: those who waited for it enter.
    func partitionLoaded(_ partition: Int) {
        let ready = self.entering.filter { self.gateway.feeds.partition(of: $0.key) == partition }
        if ready.isEmpty { return }
        self.entering.removeAll { self.gateway.feeds.partition(of: $0.key) == partition }
        for entering in ready { self.complete(entering) }
    }

    /// Answers who enters, and makes it a viewer of exactly what comes after.
    func complete(_ entering: Entering) {
        let client = entering.client
        guard !client.isDetached, client.core.live == entering.key.live else {
            return self.unsubscribeIfEmpty(entering.key)
        }
        let room = self.room(entering.key)
        // It asked twice while it waited.
        if client.room === room { return self.send(.reply(id: entering.call, entering.outcome), to: client) }
        room.epoch = max(room.epoch, entering.epoch)
        room.add(client)
        self.gateway.metrics.joined.add(1)
        if let resume = entering.resume {
            self.comeBack(resume, entering, room)
        } else {
            self.welcome(entering, room)
        }
        self.tellCount(client, room)
    }

    /// A client's live is over.
    func over(_ client: Client, _ room: Room) {
        if client.core.liveEnded(room.key.live) { self.remove(client, from: room) }
    }

    /// Takes a viewer out of its room; the last one ends the subscription.
    func remove(_ client: Client, from room: Room) {
        guard client.room === room else { return }
        room.remove(client)
        self.gateway.metrics.joined.add(-1)
        if let backlog = client.backlog {
            self.ledger.disconnected(owed: backlog.owed)
            client.backlog = nil
            if case .asked(let question) = backlog.past { self.giveUp(question) }
        }
        if room.viewers.isEmpty { self.emptied(room) }
    }

    /// A member's connection ends for good: it is out of its live at once, and not by silence (reference 19).
    ///
    /// - Returns: false when it was in none, or presence could not be told.
    func signOff(_ client: Client) -> Bool {
        guard let live = client.core.live, let ticket = client.core.ticket else { return false }
        let command = AudienceCommand.signOff(session: client.session, user: client.user.userID, ticket: ticket)
        do throws(SinkRefusal) {
            try self.write(TopicRecord(.audience(AudienceInput(client.key(live), command))), token: 0)
            return true
        } catch {
            return false
        }
    }

    /// A member's socket has closed: presence hears its last sign of life once more, and then nothing.
    func departed(_ client: Client, _ ticket: Ticket, from room: Room) {
        if room.departed.count >= HeartbeatPlan.departedLimit { room.departed.removeFirst() }
        room.departed.append(
            Room.Departed(
                session: client.session, user: client.user.userID, ticket: ticket,
                lastSign: client.socket.lastReceivedMilliseconds))
    }

    /// The live's record is gone: whoever is still here missed its end.
    func liveGone(_ key: LiveKey) {
        guard let room = self.rooms[key] else { return }
        for client in room.viewers { self.over(client, room) }
    }

    /// Whether a room's partition has been read up to its end.
    private func isLoaded(_ room: Room) -> Bool { self.gateway.feeds.subscribe(room.key, shard: self.number) }

    private func room(_ key: LiveKey) -> Room {
        if let known = self.rooms[key] { return known }
        let room = Room(key)
        room.index = self.roomList.count
        self.rooms[key] = room
        self.roomList.append(room)
        return room
    }

    /// Nobody watches any more; a room with closed sockets to tell of stays until it has told.
    private func emptied(_ room: Room) {
        room.pending = []
        room.dueAt = nil
        room.last = 0
        room.count = nil
        self.unsubscribeIfEmpty(room.key)
        if room.departed.isEmpty { self.drop(room) }
    }

    func unsubscribeIfEmpty(_ key: LiveKey) {
        if self.rooms[key]?.viewers.isEmpty ?? true, !self.entering.contains(where: { $0.key == key }) {
            self.gateway.feeds.unsubscribe(key, shard: self.number)
        }
    }

    /// Forgets a room without viewers.
    func drop(_ room: Room) {
        guard self.rooms[room.key] === room, room.viewers.isEmpty else { return }
        self.rooms[room.key] = nil
        let last = self.roomList.removeLast()
        if last !== room {
            self.roomList[room.index] = last
            last.index = room.index
        }
    }
}
