// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// One input at work on one live: a copy of its stage and requests, and what follows.
///
/// Nothing reaches the journal before `store`, and `effects` are lent by the machine, which takes back those of a
/// refused call; so that leaves no trace of itself.
struct SeatStep: ~Copyable {
    let moment: Moment
    var stage: SeatStage
    var requests: SeatRequests
    /// What follows, behind what followed from earlier inputs.
    var effects: [Effect] = []
    var events: [StageEvent] = []
    private let before: Boxed<SeatStage>?
    private let requestsBefore: SeatRequests
    /// Where the stage's row stands, if there is one.
    private let place: Int?

    /// The open stage of `key`; nil: there is none, or its live has ended.
    init?(_ key: LiveKey, _ moment: Moment, _ journal: borrowing Journal<SeatKey, SeatRow>) {
        guard let place = journal.place(of: .stage(key)), case .stage(let stage)? = journal.row(at: place),
            stage.value.goneAt == nil
        else { return nil }
        self.place = place
        self.moment = moment
        self.stage = stage.value
        self.requests = journal.requests(key)
        self.before = stage
        self.requestsBefore = self.requests
    }

    /// A stage that opens now, in place of `last`.
    init(
        opening key: LiveKey, _ moment: Moment, epoch: Int64, info: LiveInfo, after last: SeatStage?,
        _ leftOver: SeatRequests
    ) {
        self.place = nil
        self.moment = moment
        self.stage = SeatStage(key: key, epoch: epoch, revision: last?.revision ?? 0, info: info)
        self.requests = SeatRequests()
        self.before = nil
        self.requestsBefore = leftOver
        self.stage.hasFloors = last?.hasFloors ?? false
        self.seatKeptOwner()
    }

    /// Gives the stage its next revision and tells it, when viewers see a change; once an input.
    ///
    /// - Returns: the revision that a reader must have to see the change, or nil when there is none.
    @discardableResult
    mutating func publish(_ backends: Set<AppID>) -> Int64? {
        // What happened is asked first, for it costs nothing.
        if self.events.isEmpty, self.stage.goneAt == nil, self.isSameToViewers { return nil }
        self.stage.revision = Revision.next(after: self.stage.revision, at: self.moment)
        let record = self.stage.record
        self.effects.append(.stage(record))
        // The last item of an ended live's feed is its end; the empty stage is for the topic alone.
        if self.stage.goneAt == nil {
            self.effects.append(
                .barrage(BarrageInput(self.stage.key, .tell(content: .stage(record: record, events: self.events)))))
            self.tellPartners()
            self.tellBackend(backends)
        }
        return self.stage.revision
    }

    private var isSameToViewers: Bool {
        self.before.map { $0.value.isSameToViewers(as: self.stage) } ?? false
    }

    /// Connected lives show each other's seats; an unconnected voice live only says when it becomes too full to connect,
    /// or is so no longer.
    private mutating func tellPartners() {
        let isNews: Bool
        if let id = self.stage.connection?.id {
            isNews = self.before.map { $0.value.seats != self.stage.seats || $0.value.connection?.id != id } ?? true
        } else {
            isNews = self.stage.isCrowded != (self.before.map { $0.value.isCrowded } ?? false)
        }
        guard isNews else { return }
        let command = ConnectionCommand.seatsChanged(live: self.stage.key.live, seats: self.stage.seats)
        self.effects.append(.connection(ConnectionInput(app: self.stage.key.app, command)))
    }

    /// The app's backend hears who sits where, and of locks, not of every microphone.
    private mutating func tellBackend(_ backends: Set<AppID>) {
        guard backends.contains(self.stage.key.app) else { return }
        let seats = self.stage.seats
        let isSame =
            self.before.map { $0.value.seats.elementsEqual(seats) { $0.isSameToBackend(as: $1) } } ?? seats.isEmpty
        guard !isSame else { return }
        self.effects.append(.webhook(WebhookEvent(self.stage.key, at: self.moment.now, .seatsChanged(seats: seats))))
    }

    /// Hands the rows over.
    func store(in journal: inout Journal<SeatKey, SeatRow>) {
        let isSame = self.before.map { $0.value.revision == self.stage.revision && $0.value == self.stage } ?? false
        if !isSame {
            let row = SeatRow.stage(stage: Boxed(self.stage))
            if let place = self.place {
                _ = journal.update(at: place) { $0 = row }
            } else {
                journal[.stage(self.stage.key)] = row
            }
        }
        if self.requestsBefore != self.requests {
            journal[.requests(self.stage.key)] = self.requests.open.isEmpty ? nil : .requests(requests: self.requests)
        }
    }

    /// Decides a call; what tells rather than asks is none.
    mutating func decide(_ command: SeatCommand, for caller: Caller) throws(ReplyError) -> SeatFate.Result {
        switch command {
        case .apply(let index, let timeout, let extraInfo, _):
            if self.stage.role(of: caller.userID) == .owner { throw self.notAllowed("the owner does not apply") }
            return try self.apply(seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .cancelApplication: return try self.cancelApplication(caller)
        case .acceptApplication(let user, _): return try self.answerApplication(of: user, accepted: true, caller)
        case .rejectApplication(let user, _): return try self.answerApplication(of: user, accepted: false, caller)
        case .invite(let user, let index, let timeout, let extraInfo, _):
            return try self.invite(user, seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .place(let user, let index, _):
            return try self.offerPlace(to: user, seatIndex: index, caller)
        case .vouched(let user, let offer, _): return try self.vouched(user, offer, caller)
        case .cancelInvitation(let user, _): return try self.cancelInvitation(of: user, caller)
        case .acceptInvitation(let inviter, _):
            return try self.answerInvitation(by: inviter, accepted: true, caller)
        case .rejectInvitation(let inviter, _):
            return try self.answerInvitation(by: inviter, accepted: false, caller)
        case .take(let index, _): return try self.take(seatIndex: index, caller)
        case .leave: return try self.leave(caller)
        case .kickOff(let user, _): return try self.kickOff(user, caller)
        case .move(let user, let index, let policy, _): return try self.move(user, to: index, policy, caller)
        case .lock(let index, let isLocked, let microphone, let camera, _):
            return try self.lock(index, isLocked: isLocked, microphone: microphone, camera: camera, caller)
        case .device(let microphone, let camera, let suspend, _):
            return try self.setDevices(microphone: microphone, camera: camera, suspend: suspend, caller)
        case .lockDevice(let user, let device, let isLocked, _):
            return try self.lockDevice(of: user, device, isLocked: isLocked, caller)
        case .requests, .opened, .infoChanged, .ended, .userGone, .userBack, .profile, .confirmOccupants, .floor,
            .connection:
            return .done
        }
    }

    /// Takes in what is told; calls, openings, endings and floors are not learned here.
    mutating func learn(_ command: SeatCommand) {
        switch command {
        case .infoChanged(let info): self.infoChanged(info)
        case .userGone(let user): self.userGone(user)
        case .userBack(let user): self.userBack(user)
        case .profile(let user): self.profile(user)
        case .confirmOccupants:
            let owner = self.stage.owner.userID
            let seated = self.stage.seats.compactMap { $0.occupant?.user.userID }
            // The owner's absence matters also while it does not sit.
            for user in self.stage.isOwnerIn && !seated.contains(owner) ? seated + [owner] : seated {
                self.effects.append(.audience(AudienceInput(self.stage.key, .confirm(user: user))))
            }
        case .connection(let view, let battle, let revision, let events, let otherBattles):
            guard revision > self.stage.connectionRevision else { return }
            self.stage.connectionRevision = revision
            self.stage.connection = view
            self.stage.battle = battle
            self.stage.otherBattles = otherBattles
            self.events.append(contentsOf: events)
        default: break
        }
    }

    // MARK: - What all parts use

    mutating func notify(_ user: UserID, _ content: NoticeContent) {
        self.effects.append(
            .notice(
                Notice(
                    to: UserKey(self.stage.key.app, user), live: self.stage.key.live, at: self.moment.now,
                    content: content)))
    }

    /// Tells the owner and the admins, but not those who know already.
    mutating func notifyHosts(besides known: UserID..., content: NoticeContent) {
        for host in self.stage.hosts where !known.contains(host) { self.notify(host, content) }
    }

    func notAllowed(_ why: String) -> ReplyError { ReplyError(.noPermission, why) }

    /// Refuses whoever is neither owner nor admin nor the app's server.
    func requireHost(_ caller: Caller) throws(ReplyError) {
        if caller.role == .server || self.stage.role(of: caller.userID) != .generalUser { return }
        throw self.notAllowed("only the owner and admins may do this")
    }

    /// Refuses an app's server what only someone in the room can do.
    func requireUser(_ caller: Caller) throws(ReplyError) {
        guard caller.role == .user else { throw self.notAllowed("only users sit on seats") }
    }
}

extension SeatStage {
    /// Whether viewers see on it what they see on `other`.
    func isSameToViewers(as other: SeatStage) -> Bool {
        self.templateID == other.templateID && self.seats == other.seats && self.connection == other.connection
            && self.battle == other.battle && self.otherBattles == other.otherBattles
    }

    /// More people than take part in a voice connection.
    var isCrowded: Bool {
        // Most lives show pictures, which the number tells: nobody needs to be counted.
        guard SeatTemplate.voiceIDs.contains(self.templateID), self.seats.count > Limits.voiceCoHostSeats else {
            return false
        }
        var count = 0
        for index in self.seats.indices where self.seats[index].occupant != nil { count += 1 }
        return count > Limits.voiceCoHostSeats && self.template.kind == .voice
    }
}

extension Seat {
    /// Whether the seat's person and locks are those of `other`.
    func isSameToBackend(as other: Seat) -> Bool {
        self.occupant?.user.userID == other.occupant?.user.userID && self.isLocked == other.isLocked
            && self.isMicrophoneLocked == other.isMicrophoneLocked && self.isCameraLocked == other.isCameraLocked
            && self.occupant?.allowOpenMicrophone == other.occupant?.allowOpenMicrophone
            && self.occupant?.allowOpenCamera == other.occupant?.allowOpenCamera
    }
}
