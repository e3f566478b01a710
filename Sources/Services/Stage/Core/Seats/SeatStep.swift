// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Handles one input for one live, on a copy of the live's stage and requests.
///
/// Nothing is written to the journal before `store`. During the step the machine's effects are moved into `effects`. If
/// a call is rejected, the machine removes the effects of this step. Therefore a rejected call changes nothing.
struct SeatStep: ~Copyable {
    let moment: Moment
    var stage: SeatStage
    var requests: SeatRequests
    /// The effects of earlier inputs, followed by the effects of this step.
    var effects: [Effect] = []
    /// The events of this step, for the viewers.
    var events: [StageEvent] = []
    /// The stage before this step; nil for a newly opened stage.
    let originalStage: CopyOnWrite<SeatStage>?
    private let originalRequests: SeatRequests
    /// The index of the row from which the stage was loaded; nil for a newly opened stage.
    ///
    /// A newly opened stage is stored by its key, and replaces an older stage.
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

    /// Opens a new stage, which replaces the previous stage with the same live id, and its requests.
    init(
        opening key: LiveKey, _ moment: Moment, epoch: Int64, info: LiveInfo, after previousStage: SeatStage?,
        _ previousRequests: SeatRequests
    ) {
        self.stageIndex = nil
        self.moment = moment
        self.stage = SeatStage(key: key, epoch: epoch, revision: previousStage?.revision ?? 0, info: info)
        self.requests = SeatRequests()
        self.originalStage = nil
        // `store` compares the new requests with these, and so replaces the requests of the previous stage.
        self.originalRequests = previousRequests
        // The revocation fence has its own row, which a new stage does not replace. Calls read the fence only if this
        // flag is set.
        self.stage.hasRevocations = previousStage?.hasRevocations ?? false
        self.putOwnerOnSeatZeroIfReserved()
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

    // MARK: - Notices

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
}
