// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The rows of one partition of the fan-out.
package typealias BarrageRows = Journal<BarrageKey, BarrageRow>

/// The fan-out: the only writer of a live's feed.
///
/// The fan-out decides at once whether a message enters the feed, and numbers the items from 1 without gaps (I7 in
/// docs/RULES.md). No message is queued. Therefore a crash neither loses nor repeats a message, and the reply contains
/// the final outcome. Only counters wait until the budget allows them, because only the latest value of each counter
/// matters.
package struct BarrageMachine: Machine {
    /// How long the row of an ended live is stored; until it is removed, calls get the error that the live has ended.
    package static let endedLifetime = Milliseconds.seconds(300)
    /// The time without a dropped tip after which the feed announces that tips are complete again.
    ///
    /// While tips are dropped, the feed announces once in each interval of this length that tips are incomplete.
    package static let degradedInterval = Milliseconds.seconds(2)

    /// The rules of all apps.
    package private(set) var rules: AppRulesTable

    /// Creates a fan-out with the apps' `policies`; no app has settings yet.
    package init(policies: Policies) { self.rules = AppRulesTable(policies) }

    /// Updates the word lists and gifts from the apps' current settings.
    package mutating func updateSettings(_ apps: AppTable) { self.rules.updateSettings(apps) }

    package func handle(
        _ input: BarrageInput, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let key = input.key
        switch input.command {
        case .sendText(let text, let extensionInfo, let caller):
            let message = FeedContent.text(sender: caller.user, text: text, extensionInfo: extensionInfo)
            self.sendMessage(message, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendCustom(let businessID, let data, let caller):
            let message = FeedContent.custom(sender: caller.user, businessID: businessID, data: data)
            self.sendMessage(message, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendGift(let gift, let count, let receivers, let caller):
            let order = GiftOrder(gift: gift, count: count, receivers: receivers)
            self.sendGift(order, key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendLikes(let count, let caller):
            self.sendLikes(count, key, by: caller, in: &rows, at: moment, into: &effects)
        case .speaking(let level, let caller):
            self.setSpeakingLevel(level, key, by: caller, in: &rows, at: moment, into: &effects)
        case .refused(let rejection, let caller):
            self.rejectByGateway(rejection, key, to: caller, in: &rows, at: moment, into: &effects)
        case .forbidden(let error, let isGift, let caller):
            self.rejectByBackend(error, isGift: isGift, key, to: caller, in: &rows, at: moment, into: &effects)
        case .summary(let caller): self.summarize(key, for: caller, in: rows, at: moment.now, into: &effects)
        case .publish(let content): self.publishMachineItem(content, to: key, in: &rows, at: moment, into: &effects)
        case .opened, .ended, .repeatEnding, .rights, .muted, .unmuted, .floor:
            self.applyMachineInput(input.command, key, in: &rows, at: moment, into: &effects)
        }
    }

    package func handleDueRow(
        _ key: BarrageKey, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let live = key.live
        switch key.kind {
        case .feed:
            let rules = self.rules[live.app]
            let isExpired = rows.updateFeed(live) { feed in
                if let removeAt = feed.numbers.removeAt, removeAt <= moment.now { return true }
                feed.handleWakeTime(to: live, under: rules, at: moment.now, into: &effects)
                return false
            }
            // A feed that does not exist counts as expired.
            guard isExpired ?? true else { return }
            rows[key] = nil
            rows[.givers(live)] = nil
        case .calls:
            let (isEmpty, isExpired) = rows.update(key) { $0.expireWindow(at: moment) } ?? (true, true)
            if isExpired { rows[key] = nil }
            if isEmpty { rows[.backend(live, key.session)] = nil }
        // Rows of these kinds have no due time, so this case is not reached.
        case .givers, .backend: rows[key] = nil
        }
    }

    /// Handles an input of another machine about the opening, the end or the permissions of the live.
    private func applyMachineInput(
        _ command: BarrageCommand, _ key: LiveKey, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch command {
        case .opened(let epoch, let owner): self.openFeed(key, epoch, owner, in: &rows, at: moment.now)
        case .ended(let ending): self.endFeed(key, ending, in: &rows, at: moment, into: &effects)
        case .repeatEnding(let caller): self.repeatEnding(key, caller, in: &rows, into: &effects)
        case .rights(let isMessageDisable, let admins, let isGiftEnabled):
            rows.updateFeed(key) { feed in
                feed.rights.isMessageDisable = isMessageDisable
                feed.rights.admins = admins
                feed.rights.isGiftEnabled = isGiftEnabled
            }
        case .muted(let user, let until):
            rows.updateFeed(key) { feed in feed.rights.mutes.set(user, until: until ?? .distantFuture) }
        case .unmuted(let user): rows.updateFeed(key) { feed in feed.rights.mutes.remove(user) }
        // `user` was kicked: only tickets (proofs of a join) from `ticket` on are valid.
        case .floor(let user, let ticket):
            rows.updateFeed(key) { feed in feed.rights.floors.raiseFloor(of: user, to: ticket) }
        case .sendText, .sendCustom, .sendGift, .sendLikes, .speaking, .refused, .forbidden, .summary, .publish:
            preconditionFailure("a call is no input of another machine")
        }
    }

    /// Stores an empty feed for a new live.
    private func openFeed(
        _ key: LiveKey, _ epoch: Int64, _ owner: UserID, in rows: inout BarrageRows, at now: Timestamp
    ) {
        var admissions = AdmissionWindow()
        if case .feed(let oldFeed)? = rows[.feed(key)] {
            guard epoch > oldFeed.value.epoch else { return }
            // A new live with the same id keeps the admissions of the last second. Otherwise the feed could exceed the
            // budget in that second.
            admissions = oldFeed.value.admissions
        }
        let feed = FeedRow(epoch: epoch, owner: owner, at: now, admissions: admissions)
        rows[.feed(key)] = .feed(row: CopyOnWrite(feed))
        rows[.givers(key)] = nil
    }

    /// Publishes an item of another machine; there is no reply.
    private func publishMachineItem(
        _ content: FeedContent, to key: LiveKey, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        rows.updateFeed(key) { feed in
            feed.publishMachineItem(content, to: key, under: rules, at: moment.now, into: &effects)
        }
    }
}
