// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// One operation of the HTTP API: what serves it, what checks it, and what describes it, in one value, so that the
/// description cannot differ from what is served.
struct Route: Sendable {
    /// Who may ask.
    enum Access: Sendable {
        /// Any valid token.
        case anyone
        /// A token with the role server.
        case server
    }

    /// A part of the path that has a name.
    struct PathPart: Sendable {
        var name: String
        /// The call's parameter that it becomes.
        var field: String
        var schema: Schema
        var summary: String
    }

    /// A query item.
    struct QueryItem: Sendable {
        var name: String
        var field: String
        var schema: Schema
        var isNeeded = false
        var summary: String

        /// Whether it may come several times.
        var isList: Bool {
            if case .list = self.schema { return true }
            return false
        }
    }

    /// An answer's status and the form of its result.
    struct Success: Sendable {
        var status = 200
        /// The kind of result, as `CallResult` has it, and its form.
        var result: Schema
    }

    let method: HTTPMethod
    let path: String
    /// Names the operation in clients that are made from the description.
    let id: String
    let tag: String
    let summary: String
    /// The method of a call (PROTOCOL.md, section 5); nil: named by the path.
    let call: String?
    var access = Access.server
    var parts: [PathPart] = []
    var query: [QueryItem] = []
    /// The body's form; nil: none is taken.
    var body: Schema?
    /// Whether an empty body is as good as `{}`.
    var isBodyNeeded = true
    var success: Success
    /// Turns what came into the call's parameters, where names do not do.
    var shape: (@Sendable ([String: JSONValue]) -> [String: JSONValue])?

    /// A text of a live's, user's, gift's name in a path.
    static let liveID = Schema.text(1...48, pattern: "^[!-.0-~]{1,48}$")
    /// A word: letters, digits, hyphens, underscores.
    static func word(_ most: Int) -> Schema { .text(1...most, pattern: "^[A-Za-z0-9_-]{1,\(most)}$") }
    /// A user's name.
    static let userID = Self.word(32)

    /// The call's method for parameters that came.
    func method(_ parameters: [String: JSONValue]) -> String {
        if let call = self.call { return call }
        if case .text(let name)? = parameters["method"] { return name }
        return ""
    }
}

extension Route.PathPart {
    /// The live that the path names.
    static let live = Self(name: "live", field: "live", schema: Route.liveID, summary: "The live's id.")
    /// The user that the path names.
    static let user = Self(name: "user", field: "user", schema: Route.userID, summary: "The user's id.")
}
