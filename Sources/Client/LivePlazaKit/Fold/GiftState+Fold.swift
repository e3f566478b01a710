// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension GiftState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        if case .item(let entry) = input, case .gift(let sender, let gift, let count, _) = entry.content {
            context.events.append(
                .gift(
                    .onReceiveGift(
                        liveID: context.liveID.text, gift: Gift(gift), count: UInt8(clamping: count),
                        sender: LiveUserInfo(sender))))
        }
        if case .snapshot(.gifts(let categories)) = input { self.usableGifts = categories.map { GiftCategory($0) } }
        self.isGiftEnabled = context.states.live.info.isGiftEnabled
    }
}
