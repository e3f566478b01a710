// SPDX-License-Identifier: Apache-2.0

/// Where the next page of a list of lives begins, as the text `gateway.snapshot.rank`.
///
/// All pages of one listing use the snapshot and the direction of the first page. In an ascending listing, the rank has
/// the prefix `a`.
package struct ListCursor: Hashable, Sendable {
    /// The gateway that has the snapshot.
    package var gateway: GatewayID
    /// The number of the gateway's snapshot of the order of lives.
    package var snapshot: Int64
    /// The number of lives that the earlier pages have examined, 0 or more.
    ///
    /// It is client input, and may be any number up to `Int.max`.
    package var rank: Int
    /// Whether the listing begins with the lives that were visited least often.
    package var isAscending: Bool

    package init(gateway: GatewayID, snapshot: Int64, rank: Int, isAscending: Bool = false) {
        self.gateway = gateway
        self.snapshot = snapshot
        self.rank = rank
        self.isAscending = isAscending
    }

    /// The cursor's text in a call.
    package var text: String { "\(self.textBeforeRank)\(self.isAscending ? "a" : "")\(self.rank)" }

    /// The cursor's text up to and including the dot before the rank.
    package var textBeforeRank: String { "\(self.gateway.text).\(self.snapshot)." }

    /// Parses a cursor; nil if `text` is not a cursor, such as the empty text, which stands for the first page.
    package init?(text: String) {
        // The parts are found from the end, because the gateway's id may contain dots.
        guard let lastDot = text.lastIndex(of: "."), let firstDot = text[..<lastDot].lastIndex(of: "."),
            let snapshot = Int64(text[text.index(after: firstDot)..<lastDot])
        else { return nil }
        let rankText = text[text.index(after: lastDot)...]
        let isAscending = rankText.hasPrefix("a")
        guard let rank = Int(isAscending ? rankText.dropFirst() : rankText), rank >= 0 else { return nil }
        self.init(
            gateway: GatewayID(String(text[..<firstDot])), snapshot: snapshot, rank: rank, isAscending: isAscending)
    }
}
