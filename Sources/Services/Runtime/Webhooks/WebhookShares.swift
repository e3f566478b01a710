// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// How the concurrent questions of a gateway are divided: each app has a share that no other app can use, and each user
/// a share of its app's.
struct WebhookShares: Equatable {
    /// The questions of all apps, to which the shares add up.
    let total: Int
    let perApp: Int
    let perUser: Int

    /// Divides 256 questions among the apps; each gets 8 to 64.
    init(apps: Int) {
        let apps = max(1, apps)
        self.perApp = min(64, max(8, 256 / apps))
        self.perUser = self.perApp / 4
        self.total = self.perApp * apps
    }
}

/// The questions in flight, by app and user; counts that are zero are not kept.
struct InFlight {
    let shares: WebhookShares
    private var ofApp: [AppID: Int] = [:]
    private var ofUser: [UserKey: Int] = [:]

    init(shares: WebhookShares) { self.shares = shares }

    /// Counts a question, or returns false if the app or the user has its share in flight.
    mutating func begin(_ user: UserKey) -> Bool {
        guard self.ofApp[user.app, default: 0] < self.shares.perApp,
            self.ofUser[user, default: 0] < self.shares.perUser
        else { return false }
        self.ofApp[user.app, default: 0] += 1
        self.ofUser[user, default: 0] += 1
        return true
    }

    /// Removes a question that `begin` counted.
    mutating func end(_ user: UserKey) {
        let left = (app: self.ofApp[user.app, default: 1] - 1, user: self.ofUser[user, default: 1] - 1)
        self.ofApp[user.app] = left.app > 0 ? left.app : nil
        self.ofUser[user] = left.user > 0 ? left.user : nil
    }
}
