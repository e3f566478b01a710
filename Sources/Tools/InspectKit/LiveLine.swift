// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
package import PlazaWire

/// One line of a live's replay: a feed item, or a call that did not lead to one.
package struct LiveLine: Equatable, Sendable {
    /// When the broker appended the record.
    package var time: Timestamp
    /// Where the record is: `topic partition:offset`.
    package var location: String
    /// The position of the feed item; nil for a call.
    package var position: FeedPosition?
    /// The class of the item, or of the item that the call asked for; nil for a call that asks for no item.
    package var feedClass: FeedClass?
    /// The kind of the item or the call.
    package var kind: String
    /// The user who wrote the item or sent the call, or whom the item is about; nil for an item about the live.
    package var user: UserID?
    /// The content, for people.
    package var content: String
    /// The answer to the call; `applied` for a feed item.
    package var answer: CallAnswer
    /// The id of the call's request; nil for a feed item without a known call.
    package var request: RequestID?
    /// Where the call's record is; nil for a feed item without a known call.
    package var callLocation: String?
    /// The time from the call's record to the feed item or the answer; nil if one of the two was not read.
    package var delay: Milliseconds?
    /// The live at this time.
    package var scene: Scene

    package init(
        time: Timestamp, location: String, position: FeedPosition? = nil, feedClass: FeedClass? = nil, kind: String,
        user: UserID? = nil, content: String, answer: CallAnswer, scene: Scene
    ) {
        self.time = time
        self.location = location
        self.position = position
        self.feedClass = feedClass
        self.kind = kind
        self.user = user
        self.content = content
        self.answer = answer
        self.scene = scene
    }

    /// Two lines for people: the first has the item or call, the second its answer and the scene.
    ///
    /// - Parameter maxNames: how many of the present users are named at most.
    /// - Returns: the lines, without characters that a terminal would execute.
    package func text(maxNames: Int) -> String {
        let position = self.position.map { "\($0.epoch).\($0.number)" } ?? "-"
        let head = [
            ClockText.time(self.time), SafeText.padded(position, to: 10),
            SafeText.padded(self.feedClass?.name ?? "call", to: 8), self.user?.text ?? "-", self.kind,
        ].joined(separator: "  ")
        let verdict = self.position != nil ? "admitted" : self.answer.text
        let delay = self.delay.map { " after \($0.count) ms" } ?? ""
        return "\(head)  \(self.content)\n              \(verdict)\(delay) [\(self.callLocation ?? self.location)]; "
            + self.scene.text(maxNames: maxNames)
    }

    /// The line as JSON, for tools.
    package var json: JSONValue {
        var json: [String: JSONValue] = [
            "type": .text(self.position == nil ? "call" : "item"), "at": .integer(self.time.milliseconds),
            "record": .text(self.location), "kind": .text(self.kind), "content": .text(self.content),
            "verdict": .text(self.position == nil ? self.answer.verdict.rawValue : "admitted"),
            "scene": self.scene.json,
        ]
        if let position {
            json["position"] = .object(["epoch": .integer(position.epoch), "number": .integer(position.number)])
        }
        if let feedClass { json["class"] = .text(feedClass.name) }
        if let user { json["user"] = .text(user.text) }
        if !self.answer.why.isEmpty { json["why"] = .text(self.answer.why) }
        if let code = self.answer.code {
            json["code"] = .integer(Int64(code.code))
            json["codeName"] = .text(code.name)
        }
        if let request {
            json["request"] = .object(["session": .text(request.session.text), "counter": .integer(request.counter)])
        }
        if let callLocation { json["call"] = .text(callLocation) }
        if let delay { json["delayMilliseconds"] = .integer(delay.count) }
        return .object(json)
    }
}

/// Times for people, in UTC.
package enum ClockText {
    /// The time of day, such as `11:02:03.120`.
    package static func time(_ time: Timestamp) -> String {
        let dayMilliseconds: Int64 = 86_400_000
        // The remainder of a time before 1970 is negative, so a day is added.
        let milliseconds = ((time.milliseconds % dayMilliseconds) + dayMilliseconds) % dayMilliseconds
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let seconds = milliseconds / 1000
        return digits(seconds / 3600, 2) + ":" + digits(seconds / 60 % 60, 2) + ":" + digits(seconds % 60, 2) + "."
            + digits(milliseconds % 1000, 3)
    }
}

/// The first line of a live's replay.
package enum LiveHeading {
    /// Describes the live in one line for people.
    ///
    /// - Parameters:
    ///   - live: the live's id.
    ///   - record: the live's last record; nil if there is none.
    /// - Returns: one line.
    package static func text(_ live: LiveID, _ record: LiveRecord?) -> String {
        guard let record else { return "\(live.text): no such live now (5 minutes after its end its record goes)" }
        let state = record.ended.map { "ended: \($0.rawValue)" } ?? "running"
        return SafeText.line(
            "\(live.text) of \(record.info.liveOwner.userID.text), \(state), epoch \(record.epoch), "
                + "created \(ClockText.time(record.info.createTime)) UTC, revision \(record.revision)")
    }
}
