// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Opening and end of a live

extension AudienceMachine {
    /// Stores the row of a new live.
    ///
    /// The lease request removes the sessions of an earlier live with the same id.
    func planOpening(
        _ input: AudienceInput, _ epoch: Int64, _ owner: UserInfo, at moment: Moment, in rows: inout Rows
    ) -> PlannedInput {
        let key = input.key
        // The row may already belong to this opening, which is then handled a second time, or to a later live.
        if let row = rows.live(key), row.epoch >= epoch { return PlannedInput(moment, input, .ignored) }
        var row = LiveRow(epoch: epoch, owner: owner.userID, openingOffset: moment.offset, publishedAt: moment.now)
        row.isStale = rows.partition.isUnavailable
        rows[.live(key)] = .live(row: row)
        rows[.fence(key)] = nil
        rows[.bans(key)] = nil
        return PlannedInput(moment, input, .proceed, epoch: epoch, request: .clear(live: key))
    }

    /// Publishes the count of a new live, so that gateways have a count before the first viewer joins.
    func publishFirstCount(_ key: LiveKey, _ planned: PlannedInput, in rows: Rows, into effects: inout [Effect]) {
        guard let row = rows.live(key), row.epoch == planned.epoch else { return }
        effects.append(.count(row.countRecord(key, at: planned.moment.now)))
    }

    /// Removes the rows of a live that has ended, and adds the number of visits to `ending` (R3.56 in docs/RULES.md).
    ///
    /// The end of a live without a row proceeds too, because the fan-out, which writes the feed, must get it.
    func planEnd(
        _ input: AudienceInput, _ epoch: Int64, _ ending: Ending, at moment: Moment, in rows: inout Rows
    ) -> PlannedInput {
        let key = input.key
        guard let row = rows.live(key), row.epoch == epoch else { return PlannedInput(moment, input, .proceed) }
        rows[.live(key)] = nil
        rows[.fence(key)] = nil
        rows[.bans(key)] = nil
        var ending = ending
        ending.totalViewers = Int64(row.totalViewers)
        let completedInput = AudienceInput(key, .ended(epoch: epoch, ending: ending))
        return PlannedInput(moment, completedInput, .proceed, epoch: epoch, request: .clear(live: key))
    }

    /// Forwards the end of a live to the fan-out, and removes the published count.
    func forwardEnd(
        _ ending: Ending, of key: LiveKey, _ planned: PlannedInput, in rows: Rows, into effects: inout [Effect]
    ) {
        // Without an epoch, the live had no row when its end was planned, and no count. If a live with the same id has
        // begun in this batch, the published count belongs to the new live.
        if planned.epoch != nil, rows.live(key) == nil { effects.append(.countRemoved(key)) }
        effects.append(.barrage(BarrageInput(key, .ended(ending: ending))))
    }
}
