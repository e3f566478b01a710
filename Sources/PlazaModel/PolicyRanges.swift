// SPDX-License-Identifier: Apache-2.0

extension AppPolicy {
    /// What the whole numbers of a policy may be, by name.
    package static let ranges: [String: ClosedRange<Int64>] = [
        "feedBudget": 1...10_000, "maxAdmins": 0...100, "maxAudience": 1...100_000_000,
        "maxBattleSeconds": 1...86_400, "messagesPerUserPerSecond": 1...10_000,
        "historyCount": 0...Int64(Limits.history),
    ]
}

extension DismissalPolicy {
    /// What its seconds may be: up to a year.
    package static let ranges: [String: ClosedRange<Int64>] = [
        "afterNoUsersSeconds": 0...31_536_000, "afterOwnerLeaveSeconds": 0...31_536_000,
        "afterOwnerOfflineSeconds": 0...31_536_000,
    ]
}
