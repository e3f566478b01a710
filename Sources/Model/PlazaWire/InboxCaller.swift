// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Finds who waits for the answer to an inbox record, whatever machine the record is for.
package enum InboxCaller {
    /// The members that all inbox records share.
    private struct Envelope: Decodable {
        struct Key: Decodable {
            var app: AppID
        }
        struct Command: Decodable {
            var caller: Caller?
        }
        var app: AppID?
        var key: Key?
        /// The command by its name.
        var command: [String: Command]
    }

    /// The caller of a record's command, and its app.
    ///
    /// - Parameter record: the value of an inbox record.
    /// - Returns: nil if the command has no caller, or the bytes are no inbox record.
    package static func find(in record: [UInt8]) -> (caller: Caller, app: AppID)? {
        guard let envelope = try? Wire.decode(Envelope.self, from: record),
            let caller = envelope.command.values.first?.caller, let app = envelope.app ?? envelope.key?.app
        else { return nil }
        return (caller, app)
    }
}
