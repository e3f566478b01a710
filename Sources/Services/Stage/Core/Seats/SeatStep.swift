// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The handling of one input for one live, on a copy of its stage and requests.
///
/// Nothing is written to the journal before `store`. The machine swaps its `effects` in for the duration of the step,
/// and removes the effects of a rejected call. Therefore a rejected call changes nothing.
struct SeatStep: ~Copyable {
    let moment: Moment
    var stage: SeatStage
    var requests: SeatRequests
    /// The effects of earlier inputs, then those of this one.
    var effects: [Effect] = []
    var events: [StageEvent] = []
    private let originalStage: CopyOnWrite<SeatStage>?
    private let originalRequests: SeatRequests
    /// The index of the stage's row in the journal; nil when there is no row yet.
    private let stageIndex: Int?

    /// Loads the open stage of `key`; nil when there is no stage or its live has ended.
    init?(_ key: LiveKey, _ moment: Moment, _ journal: borrowing Journal<SeatKey, SeatRow>) {
        guard let stageIndex = journal.index(of: .stage(key)), case .stage(let stage)? = journal.row(at: stageIndex),
            stage.value.removalTime == nil
        else { return nil }
        self.stageIndex = stageIndex
        self.moment = moment
        self.stage = stage.value
        self.requests = journal.requests(key)
        self.originalStage = stage
        self.originalRequests = self.requests
    }

    /// Opens a new stage, which replaces the stage `last` and its requests.
    init(
        opening key: LiveKey, _ moment: Moment, epoch: Int64, info: LiveInfo, after last: SeatStage?,
        _ lastRequests: SeatRequests
    ) {
        self.stageIndex = nil
        self.moment = moment
        self.stage = SeatStage(key: key, epoch: epoch, revision: last?.revision ?? 0, info: info)
        self.requests = SeatRequests()
        self.originalStage = nil
        self.originalRequests = lastRequests
        self.stage.hasRevocations = last?.hasRevocations ?? false
        self.seatOwnerIfKept()
    }

    /// Publishes the stage with its next revision, if viewers see a change.
    ///
    /// Called once for each input.
    ///
    /// - Returns: the published revision, or nil when viewers see no change.
    @discardableResult
    mutating func publish(_ settings: SeatMachine.Settings) -> Int64? {
        // The cheapest checks come first.
        if self.events.isEmpty, self.stage.removalTime == nil, self.looksSameToViewers { return nil }
        self.stage.revision = Revision.next(after: self.stage.revision, at: self.moment)
        let record = self.stage.record
        self.effects.append(.stage(record))
        // The last item of an ended live's feed must be its end. Therefore the empty stage is written only to the topic
        // `stages`.
        if self.stage.removalTime == nil {
            self.publishItem(of: record, interval: settings.itemInterval)
            self.reportSeatsToConnectionMachine()
            self.notifyBackend(settings.appsWithWebhooks)
        }
        return self.stage.revision
    }

    private var looksSameToViewers: Bool {
        self.originalStage.map { $0.value.looksSameToViewers(as: self.stage) } ?? false
    }

    /// Reports changed seats to the connection machine, because connected lives show each other's seats.
    ///
    /// A live without a connection reports its seats only when `isCrowded` changes, because a crowded voice live cannot
    /// be connected.
    private mutating func reportSeatsToConnectionMachine() {
        let isRelevant: Bool
        if let id = self.stage.connection?.id {
            isRelevant =
                self.originalStage.map { $0.value.seats != self.stage.seats || $0.value.connection?.id != id } ?? true
        } else {
            isRelevant = self.stage.isCrowded != (self.originalStage.map { $0.value.isCrowded } ?? false)
        }
        guard isRelevant else { return }
        let command = ConnectionCommand.seatsChanged(live: self.stage.key.live, seats: self.stage.seats)
        self.effects.append(.connection(ConnectionInput(app: self.stage.key.app, command)))
    }

    /// Notifies the app's backend of changed occupants and locks, but not of devices that users turn on or off.
    private mutating func notifyBackend(_ appsWithWebhooks: Set<AppID>) {
        guard appsWithWebhooks.contains(self.stage.key.app) else { return }
        let seats = self.stage.seats
        let looksSame =
            self.originalStage.map { $0.value.seats.elementsEqual(seats) { $0.looksSameToBackend(as: $1) } }
            ?? seats.isEmpty
        guard !looksSame else { return }
        self.effects.append(.webhook(WebhookEvent(self.stage.key, at: self.moment.now, .seatsChanged(seats: seats))))
    }

    /// Writes the changed rows to the journal.
    func store(in journal: inout Journal<SeatKey, SeatRow>) {
        // The revisions are compared first, because comparing whole stages is expensive.
        let isUnchanged =
            self.originalStage.map { $0.value.revision == self.stage.revision && $0.value == self.stage } ?? false
        if !isUnchanged {
            let row = SeatRow.stage(stage: CopyOnWrite(self.stage))
            if let stageIndex = self.stageIndex {
                _ = journal.update(at: stageIndex) { $0 = row }
            } else {
                journal[.stage(self.stage.key)] = row
            }
        }
        if self.originalRequests != self.requests {
            journal.store(self.requests, of: self.stage.key)
        }
    }

    /// Decides a call; `handleFact` handles the other commands.
    mutating func decide(_ command: SeatCommand, for caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        switch command {
        case .apply(let index, let timeout, let extraInfo, _):
            return try self.apply(seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .cancelApplication: return try self.cancelApplication(caller)
        case .acceptApplication(let user, _): return try self.answerApplication(of: user, accepted: true, caller)
        case .rejectApplication(let user, _): return try self.answerApplication(of: user, accepted: false, caller)
        case .invite(let user, let index, let timeout, let extraInfo, _):
            return try self.invite(user, seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .place(let user, let index, _):
            return try self.requestPlacement(to: user, seatIndex: index, caller)
        case .guestMembershipVerified(let user, let offer, _):
            return try self.decideVerifiedOffer(user, offer, caller)
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

    /// Handles a fact of another machine; `SeatMachine` handles openings, endings and kicks itself.
    mutating func handleFact(_ command: SeatCommand) {
        switch command {
        case .infoChanged(let info): self.updateInfo(info)
        case .userGone(let user): self.removeUser(user)
        case .userBack(let user): self.handleUserReturn(user)
        case .profile(let user): self.updateProfile(user)
        case .confirmOccupants:
            let owner = self.stage.owner.userID
            let seated = self.stage.seats.compactMap { $0.occupant?.user.userID }
            // Presence must confirm `isOwnerIn` even when the owner has no seat.
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

    // MARK: - Notices and permissions

    /// Sends a notice to a user.
    mutating func notify(_ user: UserID, _ content: NoticeContent) {
        self.effects.append(
            .notice(
                Notice(
                    to: UserKey(self.stage.key.app, user), live: self.stage.key.live, at: self.moment.now,
                    content: content)))
    }

    /// Sends a notice to the owner and the admins, except those in `excluded`.
    mutating func notifyHosts(except excluded: UserID..., content: NoticeContent) {
        for host in self.stage.hosts where !excluded.contains(host) { self.notify(host, content) }
    }

    func permissionError(_ message: String) -> ReplyError { ReplyError(.noPermission, message) }

    /// Rejects every caller except the owner, the admins and the app's server.
    func requireHost(_ caller: Caller) throws(ReplyError) {
        if caller.role == .server || self.stage.role(of: caller.userID) != .generalUser { return }
        throw self.permissionError("only the owner and admins may do this")
    }

    /// Rejects the app's server, which is no user.
    func requireUser(_ caller: Caller) throws(ReplyError) {
        guard caller.role == .user else { throw self.permissionError("only users can sit on seats") }
    }
}

extension SeatStage {
    /// Whether viewers see no difference between this stage and `other`.
    func looksSameToViewers(as other: SeatStage) -> Bool {
        self.templateID == other.templateID && self.seats == other.seats && self.connection == other.connection
            && self.battle == other.battle && self.otherBattles == other.otherBattles
    }

    /// Whether more users have seats than can take part in a voice connection.
    var isCrowded: Bool {
        // Most lives are video lives, whose seats need not be counted. Their template numbers identify them.
        guard SeatTemplate.voiceIDs.contains(self.templateID), self.seats.count > Limits.voiceCoHostSeats else {
            return false
        }
        var count = 0
        for index in self.seats.indices where self.seats[index].occupant != nil { count += 1 }
        return count > Limits.voiceCoHostSeats && self.template.kind == .voice
    }
}

extension Seat {
    /// Whether the occupant and the locks are the same as those of `other`.
    func looksSameToBackend(as other: Seat) -> Bool {
        self.occupant?.user.userID == other.occupant?.user.userID && self.isLocked == other.isLocked
            && self.isMicrophoneLocked == other.isMicrophoneLocked && self.isCameraLocked == other.isCameraLocked
            && self.occupant?.allowOpenMicrophone == other.occupant?.allowOpenMicrophone
            && self.occupant?.allowOpenCamera == other.occupant?.allowOpenCamera
    }
}
