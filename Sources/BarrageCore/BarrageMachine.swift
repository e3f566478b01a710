// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The rows of one partition of the fan-out.
package typealias BarrageRows = Journal<BarrageKey, BarrageRow>

/// The fan-out: the one writer of a live's feed.
///
/// It decides at once what enters the feed, and numbers it from 1 without holes (I7). Nothing waits, so a crash has
/// nothing undecided to lose or to repeat, and a sender learns its message's fate in the reply.
package struct BarrageMachine: Machine {
    /// How long an ended live is still known, so that late messages learn that it ended.
    package static let endedLifetime = Milliseconds.seconds(300)

    let policies: Policies

    /// A fan-out under the apps' `policies`.
    package init(policies: Policies) { self.policies = policies }

    package func handle(
        _ input: BarrageInput, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let key = input.key
        switch input.command {
        case .sendText(let text, let extensionInfo, let caller):
            let content = FeedContent.text(sender: caller.user, text: text, extensionInfo: extensionInfo)
            self.send(content, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .sendCustom(let businessID, let data, let caller):
            let content = FeedContent.custom(sender: caller.user, businessID: businessID, data: data)
            self.send(content, to: key, by: caller, in: &rows, at: moment, into: &effects)
        case .tell(let content):
            self.tell(content, to: key, in: &rows, at: moment, into: &effects)
        case .opened(let epoch, let owner):
            self.open(key, epoch, owner, in: &rows)
        case .ended(let ending):
            self.end(key, ending, in: &rows, at: moment, into: &effects)
        case .sendGift(_, _, _, let caller):
            effects.append(.failure(.giftsNotEnabled, "the app has no gifts", to: caller, app: key.app))
        case .sendLikes(_, let caller), .speaking(_, let caller):
            effects.append(.success(.done, to: caller, app: key.app))
        case .summary(let caller):
            self.answerSummary(key, caller, in: rows, into: &effects)
        case .repeatEnding(let caller):
            self.repeatEnding(key, caller, in: rows, into: &effects)
        case .rights(let isMessageDisable, let admins, let isGiftEnabled):
            rows.updateFeed(key) { feed in
                feed.isMessageDisable = isMessageDisable
                feed.admins = admins
                feed.isGiftEnabled = isGiftEnabled
            }
        case .muted(let user, let until):
            rows.updateFeed(key) { feed in feed.mutes.set(user, until: until ?? .distantFuture) }
        case .unmuted(let user):
            rows.updateFeed(key) { feed in feed.mutes.remove(user) }
        case .floor(let user, let ticket):
            rows.updateFeed(key) { feed in feed.floors.raise(user, to: ticket) }
        }
    }

    package func due(
        _ key: BarrageKey, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        rows[key] = nil
    }

    private func open(_ key: LiveKey, _ epoch: Int64, _ owner: UserID, in rows: inout BarrageRows) {
        var admissions = AdmissionWindow()
        if case .feed(let old)? = rows[.feed(key)] {
            guard epoch > old.epoch else { return }
            // The second that the old incarnation filled is not over because the live began anew.
            admissions = old.admissions
        }
        rows[.feed(key)] = .feed(row: FeedRow(epoch: epoch, owner: owner, admissions: admissions))
    }

    /// The last of the machines that an end passes (reference 19): the feed's last item, the caller's answer, and the
    /// directory's leave to use the live's name again. An end that is told again repeats none of them.
    private func end(
        _ key: LiveKey, _ ending: Ending, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let budget = FeedBudget(total: self.policies[key.app].feedBudget)
        var statistics = LiveStatistics(
            totalViewers: ending.totalViewers, liveDuration: (ending.endedAt - ending.createdAt).count)
        var wasEnded = false
        rows.updateFeed(key) { feed in
            guard feed.epoch <= ending.epoch else { return }
            wasEnded = feed.hasEnded
            guard !wasEnded else { return }
            feed.statistics.totalViewers = ending.totalViewers
            feed.statistics.liveDuration = statistics.liveDuration
            statistics = feed.statistics
            let content = FeedContent.liveEnded(reason: ending.reason, statistics: statistics)
            if case .admitted(let item) = feed.publish(content, to: key, from: nil, under: budget, at: moment.now) {
                effects.append(.feed(item))
            }
            feed.removeAt = moment.now + Self.endedLifetime
        }
        guard !wasEnded else { return }
        effects.append(.directory(DirectoryInput(app: key.app, .closed(live: key.live, epoch: ending.epoch))))
        if let caller = ending.caller {
            effects.append(.success(.statistics(statistics: statistics), to: caller, app: key.app))
        }
    }

    /// A live that has not ended here yet gives no answer: its end is on its way, and brings it.
    private func repeatEnding(_ key: LiveKey, _ caller: Caller, in rows: BarrageRows, into effects: inout [Effect]) {
        guard case .feed(let feed)? = rows[.feed(key)], feed.hasEnded else { return }
        effects.append(.success(.statistics(statistics: feed.statistics), to: caller, app: key.app))
    }

    private func answerSummary(
        _ key: LiveKey, _ caller: Caller, in rows: BarrageRows, into effects: inout [Effect]
    ) {
        guard case .feed(let feed)? = rows[.feed(key)] else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        effects.append(.success(.statistics(statistics: feed.statistics), to: caller, app: key.app))
    }

    /// A fact of another machine: there is nobody to answer.
    private func tell(
        _ content: FeedContent, to key: LiveKey, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let budget = FeedBudget(total: self.policies[key.app].feedBudget)
        rows.updateFeed(key) { feed in
            switch feed.publish(content, to: key, from: nil, under: budget, at: moment.now) {
            case .admitted(let item): effects.append(.feed(item))
            case .refused, .dropped: break
            }
        }
    }
}

extension BarrageRows {
    /// Changes the feed of `key` in place, if there is one.
    mutating func updateFeed(_ key: LiveKey, _ body: (inout FeedRow) -> Void) {
        _ = self.update(.feed(key)) { row in
            guard case .feed(var feed) = row else { return }
            // The row lets go of the feed while it changes, or each change would copy it.
            row = .calls(window: FateWindow(at: .distantPast))
            body(&feed)
            row = .feed(row: feed)
        }
    }
}
