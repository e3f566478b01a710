// SPDX-License-Identifier: Apache-2.0
internal import HTTPClient
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// The place of an event in the topic `webhooks`; the event's id is formed from it, as `3-17` from partition 3 and
/// offset 17.
package struct EventPlace: Hashable, Comparable, Sendable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Reads an id; nil if it has another form.
    init?(id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]) else { return nil }
        self.init(partition: partition, offset: offset)
    }

    package var id: String { "\(self.partition)-\(self.offset)" }

    package static func < (first: EventPlace, second: EventPlace) -> Bool {
        (first.partition, first.offset) < (second.partition, second.offset)
    }
}

/// A question about a gift, as the app's backend reads it (WEBHOOKS.md, section 4).
package struct GiftQuestion: Hashable, Sendable {
    package var id: String
    package var live: LiveID
    package var sender: UserID
    package var gift: GiftID
    package var count: Int
    package var coins: Int64

    package init(id: String, live: LiveID, sender: UserID, gift: GiftID, count: Int, coins: Int64) {
        (self.id, self.live, self.sender) = (id, live, sender)
        (self.gift, self.count, self.coins) = (gift, count, coins)
    }
}

/// A request that the app's backend received, and how it answered.
package struct BackendRequest: Hashable, Sendable {
    /// The content of the request.
    package enum Content: Hashable, Sendable {
        case event(EventPlace, WebhookEvent)
        case question(GiftQuestion)
        /// A request that WEBHOOKS.md, section 1, does not allow, with the reason.
        case malformed(String)
    }

    /// How the backend answered.
    package enum Answer: Hashable, Sendable {
        /// The event was taken, or the gift allowed.
        case accepted
        /// The gift was rejected.
        case rejected
        /// Status 500.
        case failed
        /// The event was accepted after the sender's timeout; the sender may have read the answer all the same, because
        /// a stopped process notices no timeout.
        case late
    }

    package var content: Content
    package var answer: Answer
    /// When the request arrived.
    package var at: Timestamp

    package init(_ content: Content, _ answer: Answer, at: Timestamp) {
        self.content = content
        self.answer = answer
        self.at = at
    }

    /// How much the signed time may differ from the backend's time.
    static let timestampTolerance = Milliseconds.seconds(60)

    /// Reads a request as a backend must: signature and time first (WEBHOOKS.md, section 1).
    ///
    /// - Parameters:
    ///   - headers: the headers by lower-case name.
    ///   - body: the body.
    ///   - secret: the app's secret.
    ///   - app: the app that the backend belongs to.
    ///   - now: when the request arrived.
    /// - Returns: the content; `malformed` for a request that a backend must not believe or cannot read.
    package static func read(
        headers: [String: String], body: [UInt8], secret: String, app: AppID, at now: Timestamp
    ) -> Content {
        guard let timestamp = headers["liveplaza-timestamp"], let seconds = Int64(timestamp) else {
            return .malformed("it has no timestamp")
        }
        let signature = "v1=" + HMACSHA256.hex(of: Array("\(timestamp).".utf8) + body, key: Array(secret.utf8))
        guard headers["liveplaza-signature"] == signature else { return .malformed("its signature is wrong") }
        guard abs((now - Timestamp.seconds(seconds)).count) <= Self.timestampTolerance.count else {
            return .malformed("its timestamp is more than a minute off")
        }
        guard let head = try? Wire.decode(Head.self, from: body), head.v == 1, head.app == app,
            let kind = head.content.first?.key, head.content.count == 1
        else { return .malformed("its body has another form") }
        guard headers["liveplaza-event"] == kind else {
            return .malformed("its header names another event than its body")
        }
        if kind == "beforeGift" {
            guard let question = try? Wire.decode(QuestionBody.self, from: body) else {
                return .malformed("its question cannot be read")
            }
            let gift = question.content.beforeGift
            return .question(
                GiftQuestion(
                    id: head.id, live: head.live, sender: gift.sender.userID, gift: gift.giftID, count: gift.count,
                    coins: gift.coins))
        }
        guard let place = EventPlace(id: head.id), let event = try? Wire.decode(WebhookEvent.self, from: body) else {
            return .malformed("its event cannot be read")
        }
        return .event(place, event)
    }

    /// The fields that the bodies of all requests have.
    private struct Head: Decodable {
        var v: Int
        var id: String
        var app: AppID
        var live: LiveID
        var content: [String: JSONValue]
    }

    private struct QuestionBody: Decodable {
        struct Content: Decodable { var beforeGift: Gift }
        struct Gift: Decodable {
            var sender: UserInfo
            var giftID: GiftID
            var count: Int
            var coins: Int64
        }
        var content: Content
    }

    /// The live that the request is about; nil for a malformed one.
    var live: LiveID? {
        switch self.content {
        case .event(_, let event): event.live
        case .question(let question): question.live
        case .malformed: nil
        }
    }
}

/// What the app's backend received about the lives of a round, and which events Kafka has for it.
package struct BackendHistory: Hashable, Sendable {
    /// An event in the topic `webhooks`.
    package struct LoggedEvent: Hashable, Sendable {
        package var place: EventPlace
        package var event: WebhookEvent

        package init(place: EventPlace, event: WebhookEvent) {
            self.place = place
            self.event = event
        }
    }

    /// The requests, in the order of arrival.
    package var requests: [BackendRequest]
    /// All events of the round's lives in Kafka, in the order of their places; empty if Kafka was not read.
    package var log: [LoggedEvent]

    package init(requests: [BackendRequest] = [], log: [LoggedEvent] = []) {
        self.requests = requests
        self.log = log
    }
}
