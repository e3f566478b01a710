// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The policy and settings of an app, in the form in which the fan-out needs them for each message.
///
/// The rules are built once for each revision of the settings; the filter is built again only if the words differ.
package final class AppRules: Sendable {
    /// The feed's budget.
    package let budget: FeedBudget
    /// The maximum number of messages of one user to a live in any sliding second.
    package let messagesPerUser: Int
    /// Whether the app's backend gets webhook events.
    package let hasWebhooks: Bool
    /// The filter of the words that no message may contain.
    package var filter: WordFilter { self.compiledFilter.filter }
    /// The gifts of the catalogue by id, without translations, as feeds contain them.
    package let gifts: [GiftID: Gift]
    private let compiledFilter: CompiledWordFilter

    /// Creates the rules of an app with the given policy and settings.
    ///
    /// `earlierRules` are the rules of the app for an earlier revision of its settings, if there was one.
    package init(_ policy: AppPolicy, _ settings: AppSettings = AppSettings(), after earlierRules: AppRules? = nil) {
        self.budget = FeedBudget(total: policy.feedBudget)
        self.messagesPerUser = max(1, policy.messagesPerUserPerSecond)
        self.hasWebhooks = policy.hasWebhooks
        var compiledFilter = earlierRules?.compiledFilter ?? CompiledWordFilter()
        compiledFilter.update(settings.words)
        self.compiledFilter = compiledFilter
        var giftsByID: [GiftID: Gift] = [:]
        for category in settings.gifts {
            // `nil` removes the translations, which clients find in the catalogue.
            for gift in category.gifts { giftsByID[gift.giftID] = gift.localized(to: nil) }
        }
        self.gifts = giftsByID
    }
}

/// The rules of all apps that are in the apps file or have settings.
package struct AppRulesTable: Sendable {
    private struct Entry: Sendable {
        var app: AppID
        /// The revision of the settings from which the rules were built; 0 for an app without settings.
        var revision: Int64
        var rules: AppRules
    }

    /// The maximum number of apps for which a linear search is used.
    ///
    /// Most clusters have few apps, for which a linear search costs less than a hash.
    private static let maxAppsForLinearSearch = 8

    private let policies: Policies
    private var entries: [Entry] = []
    /// The index of each app in `entries`.
    private var indices: [AppID: Int] = [:]
    /// The rules of an app that has neither a policy nor settings.
    private let defaultRules: AppRules

    /// Creates the table from the apps' policies; no app has settings yet.
    package init(_ policies: Policies) {
        self.policies = policies
        self.defaultRules = AppRules(AppPolicy())
        for (app, policy) in policies.apps { self.set(AppRules(policy), of: app, revision: 0) }
    }

    /// The rules of `app`.
    package subscript(app: AppID) -> AppRules {
        self.index(of: app).map { self.entries[$0].rules } ?? self.defaultRules
    }

    /// Updates the rules of the apps whose settings have changed.
    package mutating func updateSettings(_ table: AppTable) {
        for app in table.apps {
            let revision = table.revision(of: app)
            let current = self.index(of: app).map { self.entries[$0] }
            if revision != current?.revision ?? 0 {
                let rules = AppRules(self.policies[app], table[app], after: current?.rules)
                self.set(rules, of: app, revision: revision)
            }
        }
    }

    private func index(of app: AppID) -> Int? {
        guard self.entries.count <= Self.maxAppsForLinearSearch else { return self.indices[app] }
        // An iterator would copy each entry, so the loop uses indices.
        for index in self.entries.indices where self.entries[index].app == app { return index }
        return nil
    }

    private mutating func set(_ rules: AppRules, of app: AppID, revision: Int64) {
        let entry = Entry(app: app, revision: revision, rules: rules)
        if let index = self.indices[app] {
            self.entries[index] = entry
        } else {
            self.indices[app] = self.entries.count
            self.entries.append(entry)
        }
    }
}
