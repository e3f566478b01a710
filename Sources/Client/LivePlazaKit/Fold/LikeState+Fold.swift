// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension LikeState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .item(let entry):
            switch entry.content {
            case .likes(let total, let sender, _):
                self.raiseTotal(to: total)
                context.events.append(
                    .like(
                        .onReceiveLikesMessage(
                            liveID: context.liveID.text, totalLikesReceived: UInt(clamping: total),
                            sender: LiveUserInfo(sender))))
            case .summary(let figures): self.raiseTotal(to: figures.totalLikesReceived)
            default: break
            }
        case .snapshot(.statistics(let figures, _)): self.raiseTotal(to: figures.totalLikesReceived)
        default: break
        }
    }

    /// Raises the total, but never lowers it, because an item of the feed may be older than the snapshot.
    private mutating func raiseTotal(to total: Int64) {
        self.totalLikeCount = max(self.totalLikeCount, UInt(clamping: total))
    }
}
