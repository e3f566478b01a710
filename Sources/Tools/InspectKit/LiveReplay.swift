// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// Replays a live from the records of its topics: turns the records into lines, without IO.
///
/// A line shows a feed item, or a call without one, and the scene of the live at that time: the stage, the count of
/// viewers that clients show, and who is present.
package struct LiveReplay {
    private let live: LiveKey
    private let window: ClosedRange<Timestamp>
    private var presence: PresenceTracker
    /// The live as the records so far show it, without the users who are present; `presence` has these.
    private var scene = Scene()
    /// The last record of the live in the topic `rooms` so far.
    private var record: LiveRecord?
    /// The sources of the calls' outcomes: replies, dead letters, and the live's feed items.
    private var answers = CallAnswers()
    private var lines: [LiveLine] = []

    /// - Parameters:
    ///   - live: the live.
    ///   - window: the times of the lines to return; its end is when the topics were read.
    ///   - lease: how long a client without heartbeats stays in a live.
    package init(_ live: LiveKey, window: ClosedRange<Timestamp>, lease: Milliseconds) {
        self.live = live
        self.window = window
        self.presence = PresenceTracker(lease: lease)
    }

    /// The result of a replay.
    package struct Result: Equatable, Sendable {
        /// The last record of the live in the topic `rooms`; nil if there is none.
        package var record: LiveRecord?
        package var lines: [LiveLine]
    }

    /// Replays the records.
    ///
    /// - Parameters:
    ///   - live: the live.
    ///   - window: the times of the lines to return; its end is when the topics were read.
    ///   - lease: how long a client without heartbeats stays in a live.
    ///   - entries: records in any order; those of other lives are ignored. The records of presence's inbox must begin
    ///     one lease before the window. Those of `rooms`, `stages` and `audience.counts` must begin as early as
    ///     possible.
    /// - Returns: the feed items, and the calls that were rejected, dropped or not answered, oldest first.
    package static func run(
        _ live: LiveKey, window: ClosedRange<Timestamp>, lease: Milliseconds, entries: [TopicEntry]
    ) -> Result {
        var replay = LiveReplay(live, window: window, lease: lease)
        let sorted = entries.sorted(by: TopicEntry.isBefore)
        // Of the feeds, only the items of this live can answer a call. `answers` ignores topics that have no answers.
        for entry in sorted where entry.topic != .roomFeed || entry.key == live.text { replay.answers.add(entry) }
        let calls = sorted.compactMap { InboxCall($0) }.filter { $0.app == live.app && $0.live == live.live }
        replay.answers.removeAnsweredItems(of: calls)
        let outcomes = replay.takeOutcomes(of: calls)
        // Each call has a location of its own, because it is one record. But the answers to two calls may name the
        // position of the same feed item; then the item belongs to the first call.
        let outcomeByLocation = Dictionary(outcomes.map { ($0.call.location, $0) }) { first, _ in first }
        let callByPosition = Dictionary(
            outcomes.compactMap { outcome in outcome.answer.position.map { ($0, outcome.call) } }
        ) { first, _ in first }
        for entry in sorted {
            replay.apply(entry, outcomeByLocation: outcomeByLocation, callByPosition: callByPosition)
        }
        return Result(record: replay.record, lines: replay.lines)
    }

    /// A call with its answer.
    private struct CallOutcome {
        var call: InboxCall
        var answer: CallAnswer
        /// Whether this is the last record of the call's request.
        ///
        /// A service may forward a call to another one by a further record. Only the last record gets a line.
        var isLastStep: Bool
    }

    /// Finds the answer to each call, oldest first.
    ///
    /// Call this method once, because it removes from `answers` each feed item that it finds to be an answer.
    private mutating func takeOutcomes(of calls: [InboxCall]) -> [CallOutcome] {
        var lastStepLocation: [RequestID: String] = [:]
        for call in calls { lastStepLocation[call.request] = call.location }
        return calls.map { call in
            CallOutcome(
                call: call,
                answer: self.answers.takeAnswer(
                    to: call, readAt: self.window.upperBound, feedStart: self.window.lowerBound),
                isLastStep: lastStepLocation[call.request] == call.location)
        }
    }

    /// Updates the scene from a record, and adds the line of a feed item or of a call without an item.
    private mutating func apply(
        _ entry: TopicEntry, outcomeByLocation: [String: CallOutcome], callByPosition: [FeedPosition: InboxCall]
    ) {
        self.presence.advance(to: entry.time)
        switch entry.topic {
        case .rooms where entry.key == self.live.text:
            if let record = entry.decode(LiveRecord.self) { self.record = record }
        case .stages where entry.key == self.live.text:
            if let stage = entry.decode(StageRecord.self) { self.updateStage(stage) }
        case .audienceCounts where entry.key == self.live.text:
            guard let count = entry.decode(CountRecord.self) else { return }
            self.scene.shownCount = count.count
            self.scene.isCountStale = count.stale
        case .roomFeed where entry.key == self.live.text:
            self.addItem(entry, callByPosition: callByPosition)
        case .audienceInbox, .directoryInbox, .barrageInbox, .seatInbox, .connectionInbox:
            let outcome = outcomeByLocation[entry.location]
            if entry.topic == .audienceInbox, entry.key == self.live.text,
                let input = entry.decode(AudienceInput.self)
            {
                let isRejected = outcome?.answer.verdict == .rejected
                self.presence.apply(input, entry, isRejected: isRejected)
            }
            if let outcome { self.addCall(outcome) }
        default: return
        }
    }

    /// Updates the scene's stage, unless the scene has a newer revision.
    private mutating func updateStage(_ stage: StageRecord) {
        if let shown = self.scene.stage, (stage.epoch, stage.revision) < (shown.epoch, shown.revision) { return }
        self.scene.stage = stage
    }

    /// Updates the scene's stage from a feed item, and adds a line for an item in the window.
    private mutating func addItem(_ entry: TopicEntry, callByPosition: [FeedPosition: InboxCall]) {
        guard let headers = FeedHeaders({ entry.headers[$0] }), let item = entry.decode(JSONValue.self),
            let (kind, content) = item["content"]?.members.first
        else { return }
        if kind == "stage", let record = content["record"],
            let stage = try? Wire.decode(StageRecord.self, from: Wire.encode(record))
        {
            self.updateStage(stage)
        }
        guard self.window.contains(entry.time) else { return }
        var line = LiveLine(
            time: entry.time, location: entry.location, position: headers.position, feedClass: headers.feedClass,
            kind: kind,
            user: ItemText.user(of: content), content: ItemText.text(kind, content),
            answer: CallAnswer(.applied, why: ""), scene: self.currentScene)
        if let call = callByPosition[headers.position] {
            line.request = call.request
            line.callLocation = call.location
            line.delay = entry.time - call.time
        }
        self.lines.append(line)
    }

    /// Adds a line for a call in the window that was not applied. (An applied call is shown by the line of its item.)
    private mutating func addCall(_ outcome: CallOutcome) {
        let call = outcome.call
        guard outcome.isLastStep, outcome.answer.verdict != .applied, self.window.contains(call.time) else { return }
        // The broker keeps replies for only ten minutes, so a replay of older records has many calls without an answer.
        // Only the messages among them get a line.
        guard outcome.answer.verdict != .unknown || call.isMessage else { return }
        var line = LiveLine(
            time: call.time, location: call.location, feedClass: call.feedClass, kind: call.kind, user: call.user,
            content: call.details, answer: outcome.answer, scene: self.currentScene)
        line.request = call.request
        line.callLocation = call.location
        line.delay = outcome.answer.time.map { $0 - call.time }
        self.lines.append(line)
    }

    private var currentScene: Scene {
        var scene = self.scene
        scene.presentCount = self.presence.count
        scene.present = self.presence.users(max: Scene.maxUsers)
        return scene
    }
}

extension InboxCall {
    /// The class of the feed item that the call asked for; nil for a call that asks for no item.
    ///
    /// The kind `refused` stands for a message or gift that the gateway found invalid, and `forbidden` for one that the
    /// app's backend refused. Only `forbidden` says whether it was a gift.
    var feedClass: FeedClass? {
        switch self.kind {
        case "sendText", "sendCustom", "refused": .barrage
        case "sendGift": .gift
        case "forbidden": self.fields["isGift"] == .bool(true) ? .gift : .barrage
        case "sendLikes", "speaking": .counter
        default: nil
        }
    }
}

/// The content of feed items, for people.
enum ItemText {
    /// The user who wrote an item, or whom the item is about; nil for an item about the live.
    static func user(of content: JSONValue) -> UserID? {
        let user = content["sender"] ?? content["user"]
        // Some items have only the id of the user.
        return (user?["userID"]?.text ?? user?.text).map { UserID($0) }
    }

    /// The content in one line, without the sender and the stage, which the line shows separately.
    static func text(_ kind: String, _ content: JSONValue) -> String {
        if kind == "text", let text = content["text"]?.text { return "\"\(SafeText.line(text, max: 200))\"" }
        if kind == "stage", let events = content["events"] {
            return "events=" + SafeText.line(String(decoding: Wire.encode(events), as: UTF8.self), max: 200)
        }
        // The item has the live's whole info and does not say which fields have changed, so nothing is shown.
        if kind == "infoChanged" { return "" }
        var fields = content.members
        fields["sender"] = nil
        fields["user"] = nil
        // Of a gift's description, only the id is shown.
        if kind == "gift", let gift = fields["gift"]?["giftID"] { fields["gift"] = gift }
        return fields.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=" + SafeText.line(String(decoding: Wire.encode(value), as: UTF8.self), max: 120)
        }.joined(separator: " ")
    }
}
