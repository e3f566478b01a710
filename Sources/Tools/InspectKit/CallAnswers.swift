// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// Finds the answer to each call: in the topic `replies`, among the dead letters, or in the feed.
///
/// A dead letter is an input that a machine could not process and set aside.
package struct CallAnswers {
    /// How long the broker keeps the topic `replies` (10 minutes); 0 if the topic has no retention time.
    static let retention: Milliseconds = {
        if case .time(let milliseconds) = PlazaTopic.replies.retention { return Milliseconds(milliseconds) }
        return Milliseconds(0)
    }()
    /// How long a call may wait for its answer; an older call gets none any more.
    private static let maxPendingTime: Milliseconds = .seconds(15)

    /// Where a call is in its inbox.
    private struct RecordLocation: Hashable {
        var topic: String
        var partition: Int32
        var offset: Int64
    }
    /// Identifies a request: its id is unique only within its app.
    struct RequestKey: Hashable {
        var app: AppID
        var id: RequestID
    }

    private var replies: [RequestKey: CallAnswer] = [:]
    /// The reason of each dead letter, by the location of the call.
    private var deadLetters: [RecordLocation: String] = [:]
    /// The feed items that are not matched with a call yet.
    private var messages = FeedMessages()

    package init() {}

    /// Adds a reply, a dead letter or a feed item; other records are ignored.
    package mutating func add(_ entry: TopicEntry) {
        switch entry.topic {
        case .replies:
            guard let reply = entry.decode(Reply.self) else { return }
            self.replies[RequestKey(app: reply.app, id: reply.request)] = CallAnswer(reply, at: entry.time)
        case .deadLetters:
            guard let origin = DeadLetterOrigin({ entry.headers[$0] }) else { return }
            let location = RecordLocation(topic: origin.topic, partition: origin.partition, offset: origin.offset)
            self.deadLetters[location] = origin.reason
        case .roomFeed: self.messages.add(entry)
        default: break
        }
    }

    /// The stored answer to a request; nil if none was read.
    package func reply(to request: RequestID, app: AppID) -> CallAnswer? {
        self.replies[RequestKey(app: app, id: request)]
    }

    /// Removes each feed item that the reply to one of the calls names, so that no other call with the same content is
    /// matched with it.
    ///
    /// Call this method once, after all records were added and before the first call of `takeAnswer`.
    package mutating func removeAnsweredItems(of calls: [InboxCall]) {
        for call in calls {
            if let position = self.reply(to: call.request, app: call.app)?.position {
                self.messages.remove(position, of: call)
            }
        }
    }

    /// Finds the answer to a call, and removes the feed item with which the call was matched.
    ///
    /// If the reply to a message is not stored any more, the feed is searched for the message by sender and content.
    /// Each feed item is matched with one call only, so call this method once for each call, oldest first.
    ///
    /// - Parameters:
    ///   - call: the call, or the last of its steps.
    ///   - readAt: when the topics were read. The answer to a recent call may not be written yet. The answer to an old
    ///     call may not be stored any more.
    ///   - feedStart: the time from which on the feed was read; nil if it was not read.
    /// - Returns: the answer, or `unknown` with a sentence about why none was found.
    package mutating func takeAnswer(to call: InboxCall, readAt: Timestamp, feedStart: Timestamp?) -> CallAnswer {
        if let reply = self.reply(to: call.request, app: call.app) { return reply }
        let location = RecordLocation(topic: call.topic.rawValue, partition: call.partition, offset: call.offset)
        // A dead letter: the call was set aside without being applied.
        if let reason = self.deadLetters[location] { return CallAnswer(.setAside, why: reason) }
        if let decision = call.earlierDecision { return decision }
        if call.isMessage, let position = self.messages.takeFirst(matching: call) {
            return CallAnswer(.applied, why: "found in the feed by its content", position: position)
        }
        if readAt < call.time + Self.maxPendingTime { return CallAnswer(.unknown, why: "not answered yet") }
        guard readAt < call.time + Self.retention else {
            let wouldBeInFeed = call.isMessage && feedStart.map { $0 <= call.time } ?? false
            return CallAnswer(
                .unknown,
                why: wouldBeInFeed
                    ? "not in the feed: it was rejected or dropped; the answer is not stored any more"
                    : "answers are stored for 10 minutes")
        }
        return CallAnswer(.unknown, why: "no answer was read")
    }
}

/// The messages and gifts of feeds that are not matched with a call yet.
struct FeedMessages {
    /// The fields by which a feed item (a message or a gift) is matched with its call.
    private struct Message: Hashable {
        var live: String
        var sender: String
        var content: JSONValue
    }

    /// The positions of the feed items with each content, oldest first.
    private var positions: [Message: [FeedPosition]] = [:]

    /// Adds a record of the feed; items that are not messages or gifts are ignored.
    mutating func add(_ entry: TopicEntry) {
        // The content has one member, whose name is the kind of the item.
        guard let headers = FeedHeaders({ entry.headers[$0] }), let item = entry.decode(JSONValue.self),
            let (kind, content) = item["content"]?.members.first, let sender = content["sender"]?["userID"]?.text
        else { return }
        let comparedFields: [String: JSONValue]
        switch kind {
        case "text": comparedFields = ["text": content["text"] ?? .null]
        case "custom": comparedFields = ["id": content["businessID"] ?? .null, "data": content["data"] ?? .null]
        case "gift": comparedFields = ["gift": content["gift"]?["giftID"] ?? .null, "count": content["count"] ?? .null]
        default: return
        }
        let message = Message(live: entry.key, sender: sender, content: .object(comparedFields))
        self.positions[message, default: []].append(headers.position)
    }

    /// Removes the first item with the content of `call`, and returns its position; nil if there is none.
    mutating func takeFirst(matching call: InboxCall) -> FeedPosition? {
        let message = self.message(of: call)
        guard let message, self.positions[message]?.isEmpty == false else { return nil }
        return self.positions[message]?.removeFirst()
    }

    /// Removes the item at the position that the answer to `call` names.
    mutating func remove(_ position: FeedPosition, of call: InboxCall) {
        guard let message = self.message(of: call) else { return }
        self.positions[message]?.removeAll { $0 == position }
    }

    /// The content of the feed item that `call` leads to; nil if the call is not a message or gift.
    private func message(of call: InboxCall) -> Message? {
        guard let live = call.live else { return nil }
        let comparedFields: [String: JSONValue]
        switch call.kind {
        case "sendText": comparedFields = ["text": call.fields["text"] ?? .null]
        case "sendCustom":
            comparedFields = ["id": call.fields["businessID"] ?? .null, "data": call.fields["data"] ?? .null]
        case "sendGift":
            comparedFields = ["gift": call.fields["giftID"] ?? .null, "count": call.fields["count"] ?? .null]
        default: return nil
        }
        return Message(live: LiveKey(call.app, live).text, sender: call.user.text, content: .object(comparedFields))
    }
}
