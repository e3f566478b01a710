// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What becomes of something published to a feed.
enum Publication {
    case admitted(FeedItem)
    case refused(Refusal)
    case dropped(DropReason, retryAfter: Milliseconds)
}

extension FeedRow {
    /// Lets `content` in and gives it its number, or says why not; counts it either way (I10).
    ///
    /// - Parameters:
    ///   - content: what is published.
    ///   - key: whose feed this is.
    ///   - caller: who sent it; nil for facts told by other machines.
    ///   - budget: the app's.
    ///   - now: the time of the input.
    /// - Returns: the item, or why there is none.
    mutating func publish(
        _ content: FeedContent, to key: LiveKey, from caller: Caller?, under budget: FeedBudget, at now: Timestamp
    ) -> Publication {
        if let refusal = self.refusal(of: content, from: caller) {
            self.ledger.countRefused(refusal.code)
            return .refused(refusal)
        }
        let feedClass = content.feedClass
        switch self.admissions.admit(feedClass, from: caller?.userID, under: budget, at: now) {
        case .admitted:
            self.ledger.countAdmitted(feedClass)
            self.lastNumber += 1
            let position = FeedPosition(epoch: self.epoch, number: self.lastNumber)
            return .admitted(FeedItem(key: key, position: position, at: now, content: content))
        case .dropped(let reason, let retryAfter):
            self.ledger.countDropped(feedClass, reason)
            return .dropped(reason, retryAfter: retryAfter)
        }
    }

    /// Why `content` may not enter, whatever the budget.
    private func refusal(of content: FeedContent, from caller: Caller?) -> Refusal? {
        if self.hasEnded { return .ended }
        guard let caller else { return nil }
        if let refusal = self.floors.refusal(of: caller) {
            return refusal.code == .notInRoom ? .notInRoom : .staleTicket
        }
        if self.isMessageDisable, !self.isSpared(caller) { return .roomMuted }
        guard content.hasBody else { return .empty }
        return content.messageBytes <= Limits.messageBytes ? nil : .tooLong
    }

    private func isSpared(_ caller: Caller) -> Bool {
        caller.role == .server || caller.userID == self.owner || self.admins.contains(caller.userID)
    }
}

extension FeedContent {
    /// Whether a message says anything: text, or the feature that a custom message belongs to.
    var hasBody: Bool {
        switch self {
        case .text(_, let text, _): !text.isEmpty
        case .custom(_, let businessID, _): !businessID.isEmpty
        default: true
        }
    }

    /// What a message's sender wrote, in bytes; 0 for all else.
    var messageBytes: Int {
        switch self {
        case .text(_, let text, let extensionInfo):
            (extensionInfo ?? [:]).reduce(text.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        case .custom(_, let businessID, let data): businessID.utf8.count + data.utf8.count
        default: 0
        }
    }
}
