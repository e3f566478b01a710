// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A message to this user.
struct NoticeFrame: Sendable {
    /// The notice's position in its topic; see `NoticePosition`.
    var id: String
    /// The live that the notice is about; empty if the frame does not name it.
    var live: LiveID
    /// The broker's time of the notice; 0 if the frame does not contain it.
    var at: Timestamp
    /// For `kickedOut`: the lowest ticket that is still valid.
    var floor: Ticket?
    /// Nil if the content is of a later version, or violates the protocol.
    var content: NoticeContent?
    /// Why the content cannot be read; nil if it can, or is of a later version.
    var fault: ErrorInfo?
}

extension NoticeFrame: Decodable {
    private enum Key: String, CodingKey {
        case id
        case live
        case at
        case floor
        case content
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.id = try container.decode(String.self, forKey: .id)
        self.live = try container.decodeIfPresent(LiveID.self, forKey: .live) ?? LiveID("")
        self.at = try container.decodeIfPresent(Timestamp.self, forKey: .at) ?? Timestamp(milliseconds: 0)
        self.floor = try container.decodeIfPresent(Ticket.self, forKey: .floor)
        switch TolerantValue(NoticeContent.self, in: container, forKey: .content) {
        case .value(let content): self.content = content
        case .unknown: break
        case .fault(let error): self.fault = error
        }
    }
}
