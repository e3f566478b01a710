// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import PlazaModel
internal import PlazaWire

/// The replies that a scripted user has received and not taken yet; all other frames are dropped.
final class ScriptedInbox: Sendable {
    private static let replyPrefix = Array("{\"reply\"".utf8)
    /// The replies by the ids of their calls.
    private let replies = Locked<[Int64: [String: JSONValue]]>([:])

    /// Stores a reply; drops any other frame.
    func frameReceived(_ text: [UInt8]) {
        // Most frames are feed frames, which need no parsing.
        guard text.starts(with: Self.replyPrefix), let frame = try? Wire.decode(JSONValue.self, from: text),
            let reply = frame.members["reply"]?.members,
            case .integer(let id)? = reply["id"]
        else { return }
        self.replies.withLock { $0[id] = reply }
    }

    /// Removes and returns the reply to a call; nil if the call has not been answered.
    func takeReply(_ id: Int64) -> [String: JSONValue]? { self.replies.withLock { $0.removeValue(forKey: id) } }
}
