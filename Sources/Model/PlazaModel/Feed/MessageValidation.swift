// SPDX-License-Identifier: Apache-2.0
package import MachineKit

// The fan-out, which writes the lives' feeds, decides by these checks whether it accepts a message. Gateways apply the
// checks too, so that they ask an app's backend only about messages that the fan-out would accept.

extension FeedContent {
    /// The rejection of an empty or too long message (R5.11, R17.5); nil if the message is valid.
    package var validationError: Rejection? {
        switch self {
        case .text(_, let text, _): if text.isEmpty { return .empty }
        case .custom(_, let businessID, _): if businessID.isEmpty { return .noBusinessID }
        default: return nil
        }
        let bytes = self.sumOverTexts { $0.utf8.count }
        // JSON encodes a byte as at most six bytes, and a message may have twice its limit in JSON. Therefore a message
        // of at most a third of the limit is valid, whatever its characters are.
        if bytes <= Limits.messageBytes / 3 { return nil }
        let isBounded =
            bytes <= Limits.messageBytes
            && self.sumOverTexts { TextRule.encodedBytes(of: $0) } <= 2 * Limits.messageBytes
        return isBounded ? nil : .tooLong
    }

    /// The sum of `measure` over the texts of a message.
    private func sumOverTexts(_ measure: (String) -> Int) -> Int {
        switch self {
        case .text(_, let text, let extensionInfo):
            extensionInfo?.reduce(measure(text)) { $0 + measure($1.key) + measure($1.value) } ?? measure(text)
        case .custom(_, let businessID, let data): measure(businessID) + measure(data)
        default: 0
        }
    }

    /// Whether the parts that users read (text, values and data, not keys and business ids) contain a filtered word.
    package func containsWord(of filter: WordFilter) -> Bool {
        if filter.isEmpty { return false }
        switch self {
        case .text(_, let text, let extensionInfo):
            return filter.matches(text) || (extensionInfo?.values.contains { filter.matches($0) } ?? false)
        case .custom(_, _, let data): return filter.matches(data)
        default: return false
        }
    }
}

extension LiveInfo {
    /// Whether the live mutes all viewers, and `user` is neither its owner nor an admin.
    package func isMuted(for user: UserID) -> Bool {
        self.isMessageDisable && user != self.liveOwner.userID && !self.admins.contains(user)
    }
}
