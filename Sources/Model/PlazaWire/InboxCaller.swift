// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Finds the caller that waits for the reply to an inbox record of any machine.
package enum InboxCaller {
    /// The members that inbox records have in common: `app`, or `key` with an app, and `command`.
    private struct Envelope: Decodable {
        struct Key: Decodable {
            var app: AppID
        }
        struct Command: Decodable {
            var caller: Caller?
        }
        var app: AppID?
        var key: Key?
        /// An object with one member: the command, under its name.
        var command: [String: Command]
    }

    /// Finds the caller of a record's command, and the caller's app.
    ///
    /// - Parameter record: the value of an inbox record.
    /// - Returns: the caller and its app; nil if the command has no caller, or the bytes are not an inbox record.
    package static func find(in record: [UInt8]) -> (caller: Caller, app: AppID)? {
        guard let envelope = try? Wire.decode(Envelope.self, from: record),
            let caller = envelope.command.values.first?.caller, let app = envelope.app ?? envelope.key?.app
        else { return nil }
        return (caller, app)
    }
}
