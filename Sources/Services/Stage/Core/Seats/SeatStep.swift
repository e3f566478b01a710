// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The handling of one input for one live, on a copy of its stage and requests.
///
/// Nothing is written to the journal before `store`. During the step the machine's effects are moved into `effects`; if
/// the call is rejected, the machine removes those of this step. Therefore a rejected call changes nothing.
struct SeatStep: ~Copyable {
    let moment: Moment
    var stage: SeatStage
    var requests: SeatRequests
    /// The effects of earlier inputs, then those of this one.
    var effects: [Effect] = []
    var events: [StageEvent] = []
    let originalStage: CopyOnWrite<SeatStage>?
    private let originalRequests: SeatRequests
    /// The index of the stage's row if it was loaded; nil for a newly opened stage, whose row is stored by its key and
    /// replaces an older one.
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
        // So that `store` replaces the requests of the last stage.
        self.originalRequests = lastRequests
        // The fence of revoked users has a row of its own, which outlives the stage; without this it is not read.
        self.stage.hasRevocations = last?.hasRevocations ?? false
        self.seatOwnerIfKept()
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
