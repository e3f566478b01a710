// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Publishes a changed stage to viewers, reports it to the connection machine, and notifies the backend (R7.14,
/// R14.20).
extension SeatStep {
    /// Publishes the stage with its next revision, if viewers see a change.
    ///
    /// The machine calls this once for each input, so an input publishes at most one revision.
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

    /// Whether viewers see no difference between the stage and the stage before this step; false for a new stage.
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
}

extension SeatStage {
    /// Whether viewers see no difference between this stage and `other`.
    func looksSameToViewers(as other: SeatStage) -> Bool {
        self.templateID == other.templateID && self.seats == other.seats && self.connection == other.connection
            && self.battle == other.battle && self.otherBattles == other.otherBattles
    }

    /// Whether more users have seats than can take part in a voice connection.
    var isCrowded: Bool {
        // Most lives are video lives, whose seats need not be counted. Their templates are not in `voiceIDs`.
        guard SeatTemplate.voiceIDs.contains(self.templateID), self.seats.count > Limits.voiceCoHostSeats else {
            return false
        }
        var occupiedCount = 0
        for index in self.seats.indices where self.seats[index].occupant != nil { occupiedCount += 1 }
        // Some numbers of `voiceIDs` belong to no template. They stand for the default template, which is for video.
        return occupiedCount > Limits.voiceCoHostSeats && self.template.kind == .voice
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
