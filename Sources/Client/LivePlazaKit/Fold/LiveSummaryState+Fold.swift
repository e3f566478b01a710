// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

extension LiveSummaryState {
    /// Applies an input to the statistics.
    mutating func reduce(_ input: FoldInput, _ context: FoldContext) {
        switch input {
        case .snapshot(.statistics(let figures, _)): self.show(figures)
        case .item(let entry):
            switch entry.content {
            case .summary(let figures): if !context.coveringSnapshots.contains(.statistics) { self.show(figures) }
            case .liveEnded(_, let figures): self.summaryData = LiveSummaryData(figures)
            default: break
            }
        case .counts(let counts): self.raiseTotalViewers(to: counts.totalViewers)
        case .snapshot(.details(let details)): self.raiseTotalViewers(to: details.audience.totalViewers)
        // The server sends the statistics every few seconds. Between them, the client itself increases the duration.
        case .local(.elapsed(let time)): self.summaryData.totalDuration += UInt(max(0, time.count))
        default: break
        }
    }

    /// Shows the figures of a running live.
    ///
    /// The earlier number of viewers remains if it is higher, because it may come from newer counts.
    private mutating func show(_ figures: LiveStatistics) {
        let totalViewers = self.summaryData.totalViewers
        self.summaryData = LiveSummaryData(figures)
        self.raiseTotalViewers(to: Int(clamping: totalViewers))
    }

    private mutating func raiseTotalViewers(to total: Int) {
        self.summaryData.totalViewers = max(self.summaryData.totalViewers, UInt(clamping: total))
    }
}
