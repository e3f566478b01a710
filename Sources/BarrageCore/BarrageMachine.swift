// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The rows of one partition of the fan-out.
package typealias BarrageRows = Journal<BarrageKey, BarrageRow>

/// The fan-out: the one writer of a live's feed.
///
/// It decides at once what enters the feed, and numbers it from 1 without holes (I7). No message waits, so a crash has
/// nothing undecided to lose or to repeat, and a sender learns its message's fate in the reply; only counters wait for
/// room, of which the latest is all that matters.
package struct BarrageMachine: Machine {
    /// How long an ended live is still known, so that late messages learn that it ended.
    package static let endedLifetime = Milliseconds.seconds(300)
    /// Tips are told to be complete again when for so long none was dropped; in each interval of that length in which
    /// some are dropped, they are told to be incomplete.
    package static let degradedLifetime = Milliseconds.seconds(2)

    /// What the apps allow.
    package private(set) var book: RuleBook

    /// A fan-out under the apps' `policies`, none of which has settings.
    package init(policies: Policies) { self.book = RuleBook(policies) }

    /// Takes the apps' settings as they are now: word lists and gifts.
    package mutating func take(_ apps: AppTable) { self.book.take(apps) }

    package func handle(
        _ input: BarrageInput, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let key = input.key
        switch input.command {
        case .sendText(let text, let extensionInfo, let caller):
            let message = FeedContent.text(sender: caller.user, text: text, extensionInfo: extensionInfo)
            self.send(message, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendCustom(let businessID, let data, let caller):
            let message = FeedContent.custom(sender: caller.user, businessID: businessID, data: data)
            self.send(message, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendGift(let gift, let count, let receivers, let caller):
            let order = GiftOrder(gift: gift, count: count, receivers: receivers)
            self.give(order, key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendLikes(let count, let caller):
            self.like(count, key, by: caller, in: &rows, at: moment, into: &effects)
        case .speaking(let level, let caller):
            self.speak(level, key, by: caller, in: &rows, at: moment, into: &effects)
        case .refused(let why, let caller):
            self.refuse(why, key, to: caller, in: &rows, at: moment, into: &effects)
        case .forbidden(let error, let isGift, let caller):
            self.forbid(error, isGift: isGift, key, to: caller, in: &rows, at: moment, into: &effects)
        case .summary(let caller): self.summarize(key, for: caller, in: rows, at: moment.now, into: &effects)
        case .tell(let content): self.tell(content, to: key, in: &rows, at: moment, into: &effects)
        case .opened, .ended, .repeatEnding, .rights, .muted, .unmuted, .floor:
            self.learn(input.command, key, in: &rows, at: moment, into: &effects)
        }
    }

    package func due(
        _ key: BarrageKey, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let live = key.live
        switch key.kind {
        case .feed:
            let rules = self.book[live.app]
            let hasGone = rows.updateFeed(live) { feed in
                if let removeAt = feed.numbers.removeAt, removeAt <= moment.now { return true }
                feed.woke(to: live, under: rules, at: moment.now, into: &effects)
                return false
            }
            guard hasGone ?? true else { return }
            rows[key] = nil
            rows[.givers(live)] = nil
        case .calls:
            rows[key] = nil
            rows[.backend(live, key.session)] = nil
        case .givers, .backend: rows[key] = nil
        }
    }

    /// Facts of other machines about the live as a whole, and about who may do what.
    private func learn(
        _ command: BarrageCommand, _ key: LiveKey, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch command {
        case .opened(let epoch, let owner): self.open(key, epoch, owner, in: &rows, at: moment.now)
        case .ended(let ending): self.end(key, ending, in: &rows, at: moment, into: &effects)
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
        case .floor(let user, let ticket):
            rows.updateFeed(key) { feed in feed.rights.floors.raise(user, to: ticket) }
        case .sendText, .sendCustom, .sendGift, .sendLikes, .speaking, .refused, .forbidden, .summary, .tell:
            preconditionFailure("a call is no fact to learn")
        }
    }

    private func open(_ key: LiveKey, _ epoch: Int64, _ owner: UserID, in rows: inout BarrageRows, at now: Timestamp) {
        var admissions = AdmissionWindow()
        if case .feed(let old)? = rows[.feed(key)] {
            guard epoch > old.value.epoch else { return }
            // The second that the old incarnation filled is not over because the live began anew.
            admissions = old.value.admissions
        }
        let feed = FeedRow(epoch: epoch, owner: owner, at: now, admissions: admissions)
        rows[.feed(key)] = .feed(row: Boxed(feed))
        rows[.givers(key)] = nil
    }

    /// Ends a feed, the last of the machines that an end passes (reference 19).
    ///
    /// Writes the feed's last item, answers the caller, and gives the directory leave to use the live's name again. An end
    /// that is told again repeats none of them.
    private func end(
        _ key: LiveKey, _ ending: Ending, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        var statistics = LiveStatistics(
            totalViewers: ending.totalViewers, liveDuration: (ending.endedAt - ending.createdAt).count)
        var callers = [ending.caller].compactMap(\.self)
        let wasEnded = rows.updateFeed(key) { feed in
            guard feed.epoch <= ending.epoch else { return false }
            if feed.hasEnded { return true }
            if let waiting = feed.waitsForEnd, waiting != ending.caller { callers.append(waiting) }
            feed.end(statistics, to: key, ending.reason, under: rules, at: moment.now, into: &effects)
            statistics = feed.statistics
            return false
        }
        guard !(wasEnded ?? false) else { return }
        effects.append(.directory(DirectoryInput(app: key.app, .closed(live: key.live, epoch: ending.epoch))))
        for caller in callers {
            effects.append(.success(.statistics(statistics: statistics), to: caller, app: key.app))
        }
        if rules.hasWebhooks {
            let content = WebhookContent.roomEnded(
                info: ending.info, reason: ending.reason, statistics: statistics)
            effects.append(.webhook(WebhookEvent(key, at: moment.now, content)))
        }
    }

    /// The end that the caller asked for was decided before: answered at once when the feed has ended, else with it.
    private func repeatEnding(
        _ key: LiveKey, _ caller: Caller, in rows: inout BarrageRows, into effects: inout [Effect]
    ) {
        rows.updateFeed(key) { feed in
            if feed.hasEnded {
                effects.append(.success(.statistics(statistics: feed.statistics), to: caller, app: key.app))
            } else {
                feed.waitsForEnd = caller
            }
        }
    }

    /// A fact of another machine for the viewers: there is nobody to answer.
    private func tell(
        _ content: FeedContent, to key: LiveKey, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        rows.updateFeed(key) { feed in feed.tell(content, to: key, under: rules, at: moment.now, into: &effects) }
    }
}
