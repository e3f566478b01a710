// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
package import PlazaWire

/// One call of a user, with its steps and its answer.
package struct UserCall: Equatable, Sendable {
    /// The record that the gateway wrote, and the records with which machines forwarded the call; oldest first.
    package var steps: [InboxCall]
    /// How often gateways wrote the call: more than once if the client repeated it.
    package var sentCount: Int
    package var answer: CallAnswer

    /// The first record of the call.
    package var first: InboxCall { self.steps[0] }
    /// The time from the first record to the answer; nil if no answer was read.
    package var delay: Milliseconds? { self.answer.time.map { $0 - self.first.time } }

    /// Two lines for people; the second one is indented to begin below the call's kind.
    package var text: String {
        let call = self.first
        var head = [
            ClockText.time(call.time), call.kind, call.live?.text ?? "-",
            "\(call.request.session.text)#\(call.request.counter)", call.details,
        ].filter { !$0.isEmpty }.joined(separator: "  ")
        if call.isFromServer { head += "  (by the app's server)" }
        if self.sentCount > 1 { head += "  (sent \(self.sentCount) times)" }
        if self.steps.contains(where: \.isLateRetry) { head += "  (late retry)" }
        let delay = self.delay.map { " after \($0.count) ms" } ?? ""
        let position = self.answer.position.map { " at \($0.epoch).\($0.number)" } ?? ""
        let locations = self.steps.map(\.location).joined(separator: ", ")
        return "\(head)\n              \(self.answer.text)\(position)\(delay) [\(locations)]"
    }

    /// The call as JSON, for tools.
    package var json: JSONValue {
        let call = self.first
        var json: [String: JSONValue] = [
            "type": "call", "at": .integer(call.time.milliseconds), "kind": .text(call.kind),
            "app": .text(call.app.text), "user": .text(call.user.text), "details": .text(call.details),
            "isFromServer": .bool(call.isFromServer), "sentCount": .integer(Int64(self.sentCount)),
            "request": .object([
                "session": .text(call.request.session.text), "counter": .integer(call.request.counter),
            ]),
            "records": .array(self.steps.map { .text($0.location) }), "verdict": .text(self.answer.verdict.rawValue),
            "why": .text(self.answer.why),
        ]
        if let live = call.live { json["live"] = .text(live.text) }
        if let code = self.answer.code {
            json["code"] = .integer(Int64(code.code))
            json["codeName"] = .text(code.name)
        }
        if let position = self.answer.position {
            json["position"] = .object(["epoch": .integer(position.epoch), "number": .integer(position.number)])
        }
        if let delay { json["delayMilliseconds"] = .integer(delay.count) }
        return .object(json)
    }
}

/// A notice that a user got.
package struct UserNotice: Equatable, Sendable {
    package var time: Timestamp
    package var live: LiveID
    package var kind: String
    package var details: String

    /// The notice of a record.
    ///
    /// Nil if the record has no notice, or the notice `signedInElsewhere`, which gateways send to each other.
    init?(_ entry: TopicEntry) {
        guard let notice = entry.decode(JSONValue.self), let (kind, content) = notice["content"]?.members.first,
            kind != "signedInElsewhere"
        else { return nil }
        self.time = entry.time
        self.live = LiveID(notice["live"]?.text ?? "")
        self.kind = kind
        self.details = content.members.sorted { $0.key < $1.key }.map { name, value in
            // A user is shown by its id alone.
            let shown = value["userID"] ?? value
            return "\(name)=" + SafeText.line(String(decoding: Wire.encode(shown), as: UTF8.self), max: 80)
        }.joined(separator: " ")
    }

    /// One line for people.
    package var text: String {
        "\(ClockText.time(self.time))  notice  \(self.live.text)  \(self.kind)  \(self.details)"
    }

    /// The notice as JSON, for tools.
    package var json: JSONValue {
        .object([
            "type": "notice", "at": .integer(self.time.milliseconds), "live": .text(self.live.text),
            "kind": .text(self.kind), "details": .text(self.details),
        ])
    }
}

/// Replays a user's calls and notices from the records of the topics: turns the records into lines, without IO.
package enum UserReplay {
    /// A call or a notice; the result of a replay is a list of them, sorted by time.
    package enum Line: Equatable, Sendable {
        case call(UserCall)
        case notice(UserNotice)

        var time: Timestamp {
            switch self {
            case .call(let call): call.first.time
            case .notice(let notice): notice.time
            }
        }
        /// One or two lines for people.
        package var text: String {
            switch self {
            case .call(let call): call.text
            case .notice(let notice): notice.text
            }
        }
        /// The call or notice as JSON, for tools.
        package var json: JSONValue {
            switch self {
            case .call(let call): call.json
            case .notice(let notice): notice.json
            }
        }
    }

    /// Replays the records.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - live: the live whose calls and notices are returned; nil for all lives.
    ///   - window: the times of the lines to return; its end is when the topics were read.
    ///   - entries: records in any order; those of other users are ignored.
    /// - Returns: the calls and notices, oldest first.
    package static func run(
        _ user: UserKey, live: LiveID?, window: ClosedRange<Timestamp>, entries: [TopicEntry]
    ) -> [Line] {
        let sorted = entries.sorted(by: TopicEntry.isBefore)
        var answers = CallAnswers()
        for entry in sorted { answers.add(entry) }
        // The user's requests, in the order of their first records.
        var requests: [RequestID] = []
        var stepsByRequest: [RequestID: [InboxCall]] = [:]
        for call in sorted.compactMap({ InboxCall($0) }) where call.app == user.app && call.user == user.user {
            if stepsByRequest[call.request] == nil { requests.append(call.request) }
            stepsByRequest[call.request, default: []].append(call)
        }
        answers.removeAnsweredItems(of: stepsByRequest.values.joined().map(\.self))
        var lines: [Line] = []
        for request in requests {
            guard let steps = stepsByRequest[request], let first = steps.first, let last = steps.last else { continue }
            guard window.contains(first.time), live == nil || steps.contains(where: { $0.live == live }) else {
                continue
            }
            // Only records that gateways wrote are counted: a record by which a service forwarded the call has another
            // topic or kind than the first record.
            let sentCount = steps.filter { $0.topic == first.topic && $0.kind == first.kind }.count
            // The service that reads the last record answers the call.
            let answer = answers.takeAnswer(to: last, readAt: window.upperBound, feedStart: window.lowerBound)
            lines.append(.call(UserCall(steps: steps, sentCount: sentCount, answer: answer)))
        }
        for entry in sorted where entry.topic == .userNotices && entry.key == user.text {
            guard let notice = UserNotice(entry), window.contains(notice.time), live == nil || notice.live == live
            else { continue }
            lines.append(.notice(notice))
        }
        // `offset` is the index in `lines`. It makes the sort stable: calls with the same time stay in the order of
        // their records.
        return lines.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    /// The sessions of the user's calls; the replies to these sessions must be read from the topics too.
    package static func sessions(of user: UserKey, in entries: [TopicEntry]) -> Set<String> {
        Set(
            entries.compactMap { InboxCall($0) }.filter { $0.app == user.app && $0.user == user.user }
                .map(\.request.session.text))
    }
}
