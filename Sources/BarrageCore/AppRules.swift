// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What the fan-out must know of one app at each message: its policy and one revision of its settings, made ready once.
package final class AppRules: Sendable {
    /// The feed's budget.
    package let budget: FeedBudget
    /// Messages that one user may send to a live in a sliding second.
    package let messagesPerUser: Int
    /// Whether the app's backend wants to hear of what happens.
    package let hasWebhooks: Bool
    /// The words that no message may contain.
    package let filter: WordFilter
    /// The gifts by their ids, as feeds show them.
    package let gifts: [GiftID: Gift]

    /// The rules that follow from a policy and settings.
    package init(_ policy: AppPolicy, _ settings: AppSettings = AppSettings()) {
        self.budget = FeedBudget(total: policy.feedBudget)
        self.messagesPerUser = max(1, policy.messagesPerUserPerSecond)
        self.hasWebhooks = policy.hasWebhooks
        self.filter = WordFilter(settings.words)
        var gifts: [GiftID: Gift] = [:]
        for category in settings.gifts {
            // Feeds show a gift in its plain form: who wants another language finds it in the catalogue.
            for gift in category.gifts { gifts[gift.giftID] = gift.localized(to: nil) }
        }
        self.gifts = gifts
    }
}

/// The rules of all apps: of those that the apps file names, and of any other that has settings.
package struct RuleBook: Sendable {
    private struct Entry: Sendable {
        var app: AppID
        var revision: Int64
        var rules: AppRules
    }

    /// A cluster has few apps as a rule: up to so many are looked through, which costs less than a hash.
    private static let fewApps = 8

    private let policies: Policies
    private var entries: [Entry] = []
    private var places: [AppID: Int] = [:]
    /// Of an app that is not named.
    private let standard: AppRules

    /// The rules of apps without settings.
    package init(_ policies: Policies) {
        self.policies = policies
        self.standard = AppRules(AppPolicy())
        for (app, policy) in policies.apps { self.set(app, 0, AppRules(policy)) }
    }

    /// The rules of `app`.
    package subscript(app: AppID) -> AppRules { self.place(of: app).map { self.entries[$0].rules } ?? self.standard }

    /// Takes the apps' settings: an app whose revision is known already costs a comparison, another one its rules anew.
    package mutating func take(_ table: AppTable) {
        for app in table.apps {
            let revision = table.revision(of: app)
            let known = self.place(of: app).map { self.entries[$0].revision } ?? 0
            if revision != known { self.set(app, revision, AppRules(self.policies[app], table[app])) }
        }
    }

    private func place(of app: AppID) -> Int? {
        guard self.entries.count <= Self.fewApps else { return self.places[app] }
        // By index, for an iterator would copy each entry.
        for place in self.entries.indices where self.entries[place].app == app { return place }
        return nil
    }

    private mutating func set(_ app: AppID, _ revision: Int64, _ rules: AppRules) {
        let entry = Entry(app: app, revision: revision, rules: rules)
        if let place = self.places[app] {
            self.entries[place] = entry
        } else {
            self.places[app] = self.entries.count
            self.entries.append(entry)
        }
    }
}
