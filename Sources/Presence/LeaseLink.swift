// SPDX-License-Identifier: Apache-2.0

/// A connection to the Redis that holds the leases, for one thread.
package protocol LeaseLink: AnyObject {
    /// Makes sure that there is a connection, and says to what; returns soon also when there is none.
    func connect() throws(LeaseLinkError) -> LeaseLinkIdentity

    /// Runs scripts in one pipeline, on the very connection that `connect` named.
    ///
    /// - Returns: one reply for each call; a script's own refusal is a `.error` among them.
    func run(_ calls: [ScriptCall], key: String) throws(LeaseLinkError) -> [LeaseReply]
}

/// Which server a connection leads to.
package struct LeaseLinkIdentity: Equatable, Sendable {
    /// Grows with each connection.
    package var serial: Int
    /// The server's `run_id`: another one after each start.
    package var runID: String

    package init(serial: Int, runID: String) {
        self.serial = serial
        self.runID = runID
    }
}

/// Why a pipeline gave nothing.
package enum LeaseLinkError: Error, Equatable, Sendable {
    /// There is no connection; nothing was sent.
    case unreachable(String)
    /// The connection broke; what was sent may have been carried out.
    case broken(String)
}

/// What a script gave.
package enum LeaseReply: Equatable, Sendable {
    case integer(Int64)
    case text(String)
    case list([LeaseReply])
    case null
    case error(String)

    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .text(let text): Int64(text)
        case .list, .null, .error: nil
        }
    }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var list: [LeaseReply]? { if case .list(let list) = self { list } else { nil } }
}
