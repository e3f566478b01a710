// SPDX-License-Identifier: Apache-2.0

extension AppPolicy {
    /// The largest audience of a live that an app may allow.
    package static let largestAudience: Int64 = 100_000_000

    /// The valid range of each integer setting, by the setting's name; a battle lasts at most a day.
    package static let ranges: [String: ClosedRange<Int64>] = [
        "feedBudget": 1...10_000, "maxAdmins": 0...100, "maxAudience": 1...largestAudience,
        "maxBattleSeconds": 1...86_400, "messagesPerUserPerSecond": 1...10_000,
        "historyCount": 0...Int64(Limits.history),
    ]
}

extension DismissalPolicy {
    /// The valid range of each delay in seconds, by the delay's name: up to a year.
    package static let ranges: [String: ClosedRange<Int64>] = [
        "afterNoUsersSeconds": 0...31_536_000, "afterOwnerLeaveSeconds": 0...31_536_000,
        "afterOwnerOfflineSeconds": 0...31_536_000,
    ]
}
