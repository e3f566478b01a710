// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The shares of a gateway's concurrent requests to backends.
///
/// Each app has a share that no other app can use, and each user has a share of its app's share.
struct WebhookShares: Equatable {
    /// The maximum number of requests of all apps: the sum of the shares.
    let total: Int
    /// The maximum number of requests of one app.
    let perApp: Int
    /// The maximum number of requests of one user.
    let perUser: Int

    /// Divides 256 requests among the apps; each app gets 8 to 64, and each user a quarter of its app's share.
    ///
    /// With more than 256 / 8 = 32 apps, the total therefore exceeds 256.
    init(apps: Int) {
        let apps = max(1, apps)
        self.perApp = min(64, max(8, 256 / apps))
        self.perUser = self.perApp / 4
        self.total = self.perApp * apps
    }
}

/// The number of requests in flight, by app and user; counts that are zero are removed.
struct RequestsInFlight {
    let shares: WebhookShares
    private var perApp: [AppID: Int] = [:]
    private var perUser: [UserKey: Int] = [:]

    init(shares: WebhookShares) { self.shares = shares }

    /// Adds a request, unless the share of the app or of the user is used up.
    ///
    /// - Returns: whether the request was added.
    mutating func addRequest(of user: UserKey) -> Bool {
        guard self.perApp[user.app, default: 0] < self.shares.perApp,
            self.perUser[user, default: 0] < self.shares.perUser
        else { return false }
        self.perApp[user.app, default: 0] += 1
        self.perUser[user, default: 0] += 1
        return true
    }

    /// Removes a request that `addRequest` has added.
    mutating func removeRequest(of user: UserKey) {
        let remaining = (app: self.perApp[user.app, default: 1] - 1, user: self.perUser[user, default: 1] - 1)
        self.perApp[user.app] = remaining.app > 0 ? remaining.app : nil
        self.perUser[user] = remaining.user > 0 ? remaining.user : nil
    }
}
