// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// The JSON of a frame: an object whose only field is named after the kind of frame, such as
/// `{"reply":{"id":…,"result":{…}}}` or `{"reply":{"id":…,"error":{…}}}`.
extension ServerFrame: Codable {
    private enum Kind: String, CodingKey {
        case reply
        /// Items of the feed, or earlier messages (a `history` frame), which are encoded as a feed with
        /// `history: true`.
        case feed
        case counts
        case notice
        case drain
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Kind.self)
        switch self {
        case .reply(let id, let outcome):
            switch outcome {
            case .success(let result):
                try container.encode(ReplyBody(id: id, result: ResultBody(result: result)), forKey: .reply)
            case .failure(let error): try container.encode(ReplyBody(id: id, error: ErrorBody(error)), forKey: .reply)
            }
        case .feed(let live, let epoch, let items, let token):
            try container.encode(FeedBody(live: live, epoch: epoch, items: items, token: token), forKey: .feed)
        case .history(let live, let epoch, let items, let token):
            let body = FeedBody(live: live, epoch: epoch, history: true, items: items, token: token)
            try container.encode(body, forKey: .feed)
        case .counts(let count): try container.encode(count, forKey: .counts)
        case .notice(let id, let notice): try container.encode(NoticeBody(id: id, notice), forKey: .notice)
        case .drain(let milliseconds): try container.encode(DrainBody(reconnectWithin: milliseconds), forKey: .drain)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Kind.self)
        // `allKeys` leaves out the fields whose names are not a `Kind`.
        guard let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no frame kind that is known here"))
        }
        switch kind {
        case .reply:
            let body = try container.decode(ReplyBody.self, forKey: .reply)
            if let error = body.error {
                let rejection = ReplyError(
                    error.code, error.message, retryAfter: error.retryAfter, reason: error.reason)
                self = .reply(id: body.id, .failure(error: rejection))
            } else {
                self = .reply(id: body.id, .success(result: body.result?.result ?? .done))
            }
        case .feed:
            let body = try container.decode(FeedBody.self, forKey: .feed)
            self =
                body.history == true
                ? .history(live: body.live, epoch: body.epoch, items: body.items, token: body.token)
                : .feed(live: body.live, epoch: body.epoch, items: body.items, token: body.token)
        case .counts: self = .counts(try container.decode(LiveCount.self, forKey: .counts))
        case .notice:
            let body = try container.decode(NoticeBody.self, forKey: .notice)
            // The frame does not name the app, because a client knows its own app. An empty id stands for the app.
            let to = UserKey(AppID(""), body.to)
            self = .notice(
                id: body.id, Notice(to: to, live: body.live, at: body.at, floor: body.floor, content: body.content))
        case .drain:
            self = .drain(reconnectWithin: try container.decode(DrainBody.self, forKey: .drain).reconnectWithin)
        }
    }
}

extension Outcome {
    /// The JSON of the outcome alone, the body of an HTTP response: `{"result":{…}}` or `{"error":{…}}`.
    package var json: [UInt8] {
        switch self {
        case .success(let result): Wire.encode(OutcomeBody(result: ResultBody(result: result)))
        case .failure(let error): Wire.encode(OutcomeBody(error: ErrorBody(error)))
        }
    }
}

/// A result as clients receive it: the same JSON as in records, except for `pong`.
///
/// Earlier versions answered a ping with `done` and without a time. Therefore clients receive `pong` as
/// `{"done":{"at":…}}`.
private struct ResultBody: Codable {
    private enum Kind: CodingKey {
        case done
    }

    private struct Done: Codable {
        var at: Timestamp?
    }

    var result: CallResult

    init(result: CallResult) { self.result = result }

    func encode(to encoder: any Encoder) throws {
        guard case .pong(let at) = self.result else { return try self.result.encode(to: encoder) }
        var container = encoder.container(keyedBy: Kind.self)
        try container.encode(Done(at: at), forKey: .done)
    }

    init(from decoder: any Decoder) throws {
        let done = try decoder.container(keyedBy: Kind.self).decodeIfPresent(Done.self, forKey: .done)
        self.result = if let at = done?.at { .pong(at: at) } else { try CallResult(from: decoder) }
    }
}

private struct OutcomeBody: Encodable {
    var result: ResultBody?
    var error: ErrorBody?
}

private struct ReplyBody: Codable {
    var id: Int64
    var result: ResultBody?
    var error: ErrorBody?
}

/// An error as clients receive it: a code for programs, a name and a message for people.
private struct ErrorBody: Codable {
    var code: ReplyCode
    var name: String
    var message: String
    /// The milliseconds after which the client may retry; nil if there is no hint.
    var retryAfter: Int64?
    var reason: String?

    init(_ error: ReplyError) {
        self.code = error.code
        self.name = error.code.name
        self.message = error.message
        self.retryAfter = error.retryAfter
        self.reason = error.reason
    }
}

private struct FeedBody: Codable {
    var live: LiveID
    var epoch: Int64
    /// Whether the items are earlier messages; never encoded as false.
    var history: Bool?
    var items: [FeedEntry]
    var token: String
}

private struct NoticeBody: Codable {
    var id: String
    var to: UserID
    var live: LiveID
    var at: Timestamp
    /// In a kick: the lowest ticket of the live that is still valid.
    var floor: Ticket?
    var content: NoticeContent

    init(id: String, _ notice: Notice) {
        self.id = id
        self.to = notice.to.user
        self.live = notice.live
        self.at = notice.at
        self.floor = notice.floor
        self.content = notice.content
    }
}

private struct DrainBody: Codable {
    /// The longest random delay before a client reconnects, in milliseconds.
    var reconnectWithin: Int64
}
