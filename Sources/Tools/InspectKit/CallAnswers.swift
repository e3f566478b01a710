// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// Finds what became of calls, from the answers, the dead letters and the feed.
package struct CallAnswers {
    /// How long the broker keeps answers.
    static let retention: Milliseconds = {
        if case .time(let milliseconds) = PlazaTopic.replies.retention { return Milliseconds(milliseconds) }
        return Milliseconds(0)
    }()
    /// A call that has had no answer for longer than this will not get one.
    private static let pendingTime: Milliseconds = .seconds(15)

    private struct Place: Hashable {
        var topic: String
        var partition: Int32
        var offset: Int64
    }
    /// An answer's request within its app.
    struct Request: Hashable {
        var app: AppID
        var id: RequestID
    }

    private var replies: [Request: CallAnswer] = [:]
    private var deadLetters: [Place: String] = [:]
    private var messages = FeedMessages()

    package init() {}

    /// Adds what a record says about calls: an answer, a dead letter or a feed item.
    ///
    /// Other records are ignored.
    package mutating func add(_ entry: TopicEntry) {
        switch entry.topic {
        case .replies:
            guard let reply = entry.decode(Reply.self) else { return }
            self.replies[Request(app: reply.app, id: reply.request)] = CallAnswer(reply, at: entry.time)
        case .deadLetters:
            guard let origin = DeadLetterOrigin({ entry.headers[$0] }) else { return }
            let place = Place(topic: origin.topic, partition: origin.partition, offset: origin.offset)
            self.deadLetters[place] = origin.reason
        case .roomFeed: self.messages.add(entry)
        default: break
        }
    }

    /// The stored answer of a request; nil if none was read.
    package func reply(to request: RequestID, app: AppID) -> CallAnswer? {
        self.replies[Request(app: app, id: request)]
    }

    /// Assigns the feed items that answers name to their calls, so that no other call is matched with them.
    ///
    /// Call it once, when all records were added and before the first `answer`.
    package mutating func matchAnswered(_ calls: [CallRecord]) {
        for call in calls {
            if let position = self.reply(to: call.request, app: call.app)?.position {
                self.messages.remove(position, of: call)
            }
        }
    }

    /// What became of a call.
    ///
    /// A message whose answer is not stored any more is looked for in the feed by its sender and content. Each item
    /// stands for one call, so this must be called once for each call, oldest first.
    ///
    /// - Parameters:
    ///   - call: the call, or the last of its steps.
    ///   - readAt: when the topics were read. The answer of a newer call may not be written yet, that of an old call
    ///     may not be stored any more.
    ///   - feedStart: the time from which the feed was read; nil if it was not.
    /// - Returns: the answer, or `unknown` with a sentence about why none was found.
    package mutating func answer(to call: CallRecord, readAt: Timestamp, feedStart: Timestamp?) -> CallAnswer {
        if let reply = self.reply(to: call.request, app: call.app) { return reply }
        let place = Place(topic: call.topic.rawValue, partition: call.partition, offset: call.offset)
        if let reason = self.deadLetters[place] { return CallAnswer(.setAside, why: reason) }
        if let decided = call.decided { return decided }
        if call.isMessage, let position = self.messages.take(call) {
            return CallAnswer(.applied, why: "found in the feed by its content", position: position)
        }
        if readAt < call.time + Self.pendingTime { return CallAnswer(.unknown, why: "not answered yet") }
        guard readAt < call.time + Self.retention else {
            let isInFeed = call.isMessage && feedStart.map { $0 <= call.time } ?? false
            return CallAnswer(
                .unknown,
                why: isInFeed
                    ? "not in the feed: it was rejected or dropped; the answer is not stored any more"
                    : "answers are stored for 10 minutes")
        }
        return CallAnswer(.unknown, why: "no answer was read")
    }
}

/// The messages and gifts of feeds that no call has been matched with.
struct FeedMessages {
    private struct Message: Hashable {
        var live: String
        var sender: String
        var content: JSONValue
    }

    private var positions: [Message: [FeedPosition]] = [:]

    mutating func add(_ entry: TopicEntry) {
        guard let headers = FeedHeaders({ entry.headers[$0] }), let item = entry.decode(JSONValue.self),
            let (kind, content) = item["content"]?.members.first, let sender = content["sender"]?["userID"]?.text
        else { return }
        var compared: [String: JSONValue] = [:]
        switch kind {
        case "text": compared = ["text": content["text"] ?? .null]
        case "custom": compared = ["id": content["businessID"] ?? .null, "data": content["data"] ?? .null]
        case "gift": compared = ["gift": content["gift"]?["giftID"] ?? .null, "count": content["count"] ?? .null]
        default: return
        }
        let message = Message(live: entry.key, sender: sender, content: .object(compared))
        self.positions[message, default: []].append(headers.position)
    }

    /// The position of the first item with the content of `call`, which no other call gets again.
    mutating func take(_ call: CallRecord) -> FeedPosition? {
        let message = self.message(of: call)
        guard let message, self.positions[message]?.isEmpty == false else { return nil }
        return self.positions[message]?.removeFirst()
    }

    /// Removes the item that an answer names.
    mutating func remove(_ position: FeedPosition, of call: CallRecord) {
        guard let message = self.message(of: call) else { return }
        self.positions[message]?.removeAll { $0 == position }
    }

    private func message(of call: CallRecord) -> Message? {
        guard let live = call.live else { return nil }
        let compared: [String: JSONValue]
        switch call.kind {
        case "sendText": compared = ["text": call.fields["text"] ?? .null]
        case "sendCustom":
            compared = ["id": call.fields["businessID"] ?? .null, "data": call.fields["data"] ?? .null]
        case "sendGift": compared = ["gift": call.fields["giftID"] ?? .null, "count": call.fields["count"] ?? .null]
        default: return nil
        }
        return Message(live: LiveKey(call.app, live).text, sender: call.user.text, content: .object(compared))
    }
}
