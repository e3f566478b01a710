// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import MachineKit
internal import PlazaWire

/// The frames that one client sent to and received from a simulated or a real cluster, with their times.
///
/// A recording contains no tokens. `lines` is its text, for a file or a bug report. `SessionReplay` shows the stores at
/// any moment of a recording.
public struct SessionRecording: Sendable, Hashable {
    /// One event of a connection.
    struct Entry: Sendable, Hashable, Codable {
        /// The kinds of events.
        enum Kind: String, Sendable, Codable {
            /// The client begins to connect.
            case connects
            case opened
            case sent
            case received
            case closed
        }

        /// Milliseconds since the recording began; a number with a fraction in recordings of earlier versions.
        var at: Double
        var kind: Kind
        /// The JSON of a frame, without the token of a login.
        var text: String?
        /// The code of a close.
        var code: Int?

        /// The time of the event by a clock that shows 0 at first; a fraction of a millisecond is cut off.
        var time: MonotonicTime { MonotonicTime(fractionalMilliseconds: self.at) }
    }

    private(set) var entries: [Entry] = []

    init() {}

    /// Reads a recording from its lines; nil if a line is malformed.
    public init?(lines: String) {
        for line in lines.split(separator: "\n") {
            guard let entry = try? Wire.decode(Entry.self, from: Array(line.utf8)), entry.at.isFinite else {
                return nil
            }
            self.entries.append(entry)
        }
    }

    /// The recording as text, with one JSON object on each line.
    public var lines: String {
        self.entries.map { String(decoding: Wire.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    /// How long the recording lasts.
    public var duration: Duration { .milliseconds(self.entries.last?.time.milliseconds ?? 0) }

    mutating func append(_ kind: Entry.Kind, at time: Milliseconds, text: [UInt8]? = nil, code: Int? = nil) {
        let text = text.map { String(decoding: Self.redacted($0, kind), as: UTF8.self) }
        self.entries.append(Entry(at: Double(time.count), kind: kind, text: text, code: code))
    }

    /// A frame without the token of a login.
    private static func redacted(_ text: [UInt8], _ kind: Entry.Kind) -> [UInt8] {
        guard kind == .sent, case .object(var members)? = try? Wire.decode(JSONValue.self, from: text),
            members["method"] == "login", var params = members["params"]?.members
        else { return text }
        params["token"] = "left out"
        members["params"] = .object(params)
        return Wire.encode(JSONValue.object(members))
    }
}
