// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// A call in the inbox of a machine, or a later step of a call that one machine forwarded to another.
///
/// The record is read without the Swift type of its command, so calls of newer versions are shown too.
package struct InboxCall: Equatable, Sendable {
    package var topic: PlazaTopic
    package var partition: Int32
    package var offset: Int64
    /// When the broker appended the call.
    package var time: Timestamp
    package var app: AppID
    /// The live that the call is about; nil if it is about no live.
    package var live: LiveID?
    /// The command's name on the wire.
    package var kind: String
    package var user: UserID
    package var isFromServer: Bool
    package var request: RequestID
    /// Whether a gateway marked the call as a late retry, which is never applied.
    package var isLateRetry: Bool
    /// The command's fields that no other property shows, as `name=value`, for people.
    package var details: String
    /// The rejection of a message that a gateway or the app's backend had decided before the record was written; nil if
    /// the machine decides.
    package var earlierDecision: CallAnswer?
    /// The members of the command's JSON, by which a message is matched with its feed item.
    var fields: [String: JSONValue]

    /// Reads a call; nil for a record without a caller, such as a tick or a report between machines.
    package init?(_ entry: TopicEntry) {
        guard entry.topic.rawValue.hasSuffix(".inbox"), let record = entry.decode(JSONValue.self),
            let (kind, command) = record["command"]?.members.first
        else { return nil }
        let caller = command["caller"] ?? command["ending"]?["caller"]
        guard let caller, let user = caller["user"]?["userID"]?.text,
            let session = caller["request"]?["session"]?.text, let counter = caller["request"]?["counter"]?.integer,
            let app = record["app"]?.text ?? record["key"]?["app"]?.text
        else { return nil }
        self.topic = entry.topic
        self.partition = entry.partition
        self.offset = entry.offset
        self.time = entry.time
        self.app = AppID(app)
        self.live = (record["key"]?["live"] ?? command["live"] ?? command["from"])?.text.map { LiveID($0) }
        self.kind = kind
        self.user = UserID(user)
        self.isFromServer = caller["role"]?.text == CallerRole.server.rawValue
        self.request = RequestID(session: SessionID(session), counter: counter)
        self.isLateRetry = caller["late"] == .bool(true)
        self.fields = command.members
        self.details = Self.details(of: command)
        self.earlierDecision = Self.earlierDecision(kind, command)
    }

    /// Where the record is: `topic partition:offset`.
    package var location: String { "\(self.topic.rawValue) \(self.partition):\(self.offset)" }

    /// Whether the call publishes a message or a gift as a feed item of its own.
    var isMessage: Bool { self.topic == .barrageInbox && ["sendText", "sendCustom", "sendGift"].contains(self.kind) }

    /// The rejection of a message by a gateway or the app's backend; nil for any other command.
    private static func earlierDecision(_ kind: String, _ command: JSONValue) -> CallAnswer? {
        if kind == "refused", let why = command["why"]?.integer.flatMap({ Rejection(rawValue: $0) }) {
            return CallAnswer(ReplyError(why.code, "the gateway found: \(why)"))
        }
        guard kind == "forbidden", let error = command["error"], let code = error["code"]?.integer else { return nil }
        return CallAnswer(
            ReplyError(ReplyCode(Int(clamping: code)), "the app's backend: \(error["message"]?.text ?? "no answer")"))
    }

    /// The command's fields as `name=value`, without those that are shown elsewhere.
    private static func details(of command: JSONValue) -> String {
        let shown = command.members.filter { !["caller", "live", "ending"].contains($0.key) }
        return shown.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=" + SafeText.line(String(decoding: Wire.encode(value), as: UTF8.self), max: 120)
        }.joined(separator: " ")
    }
}

/// The answer to a call.
package struct CallAnswer: Equatable, Sendable {
    /// How the call ended.
    package enum Verdict: String, Equatable, Sendable {
        /// The call was applied, or a query was answered.
        case applied
        /// The message was not admitted, because the feed's budget was used up.
        case dropped
        /// The call failed, with a reply code.
        case rejected
        /// The machine could not process the call and set it aside (`plaza dead-letters`).
        case setAside
        /// No answer is stored.
        case unknown
    }

    package var verdict: Verdict
    /// The reply code; nil for a call that was neither dropped nor rejected.
    package var code: ReplyCode?
    /// The reason of a rejection, or a description of the result.
    package var why: String
    /// The position of the message in the feed; nil if the call has no feed item.
    package var position: FeedPosition?
    /// When the answer was written; nil if no answer was read.
    package var time: Timestamp?

    package init(_ verdict: Verdict, why: String, position: FeedPosition? = nil) {
        self.verdict = verdict
        self.why = why
        self.position = position
    }

    /// The answer that carries an error.
    package init(_ error: ReplyError) {
        self.init(error.code == .droppedByBudget ? .dropped : .rejected, why: error.message)
        self.code = error.code
    }

    /// The answer in a record of the topic `replies`.
    package init(_ reply: Reply, at time: Timestamp) {
        switch reply.outcome {
        case .failure(let error): self.init(error)
        case .success(.sent(let position)): self.init(.applied, why: "sent", position: position)
        case .success(let result): self.init(.applied, why: Self.name(of: result))
        }
        self.time = time
    }

    /// The name of a result on the wire.
    private static func name(of result: CallResult) -> String {
        guard let json = try? Wire.decode(JSONValue.self, from: Wire.encode(result)) else { return "done" }
        return json.members.keys.first ?? "done"
    }

    /// The answer for people, such as `rejected: -2381 userMuted, you are muted`.
    package var text: String {
        let code = self.code.map { "\($0.code) \($0.name)" }
        let parts = [code, self.why].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty
            ? self.verdict.rawValue : "\(self.verdict.rawValue): \(SafeText.line(parts.joined(separator: ", ")))"
    }
}
