// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import MachineKit
internal import PlazaWire

/// One operation of the HTTP API: a request that is converted to a call, like those that clients send over WebSocket.
///
/// The router, the input checks and the OpenAPI description all use this value, so the description cannot differ from
/// the served API.
struct Route: Sendable {
    /// The token that an operation requires.
    enum Access: Sendable {
        /// Any valid token.
        case anyone
        /// A token with the role server.
        case server
    }

    /// A named part of the path.
    struct PathPart: Sendable {
        var name: String
        /// The name of the call's parameter that gets the value.
        var field: String
        var schema: Schema
        var summary: String
    }

    /// A query item.
    struct QueryItem: Sendable {
        var name: String
        /// The name of the call's parameter that gets the value.
        var field: String
        var schema: Schema
        var isRequired = false
        var summary: String

        /// Whether the query item may be repeated.
        var isList: Bool {
            if case .list = self.schema { return true }
            return false
        }
    }

    /// The HTTP status and the result's schema of a successful response.
    struct Success: Sendable {
        var status = 200
        /// The schema of the result: an object with the result's kind, as in `CallResult`.
        var result: Schema

        /// Success without a result value.
        static let done = Self(result: ResponseSchemas.done)

        /// Success with a result of this kind.
        static func result(_ kind: String, _ fields: [Schema.Field]) -> Self {
            Self(result: ResponseSchemas.result(kind, fields))
        }
    }

    let method: HTTPMethod
    let path: String
    /// The operation's name in generated clients.
    let id: String
    /// The name under which the description groups operations.
    let tag: String
    let summary: String
    /// The call's method (docs/PROTOCOL.md, section 5); nil if the path contains it.
    let call: String?
    var access = Access.server
    /// The named parts of the path, such as `{live}`.
    var parts: [PathPart] = []
    var query: [QueryItem] = []
    /// The body's schema; nil if the operation has no body.
    var body: Schema?
    /// Whether the body is required; otherwise an empty body counts as `{}`.
    var isBodyRequired = true
    var success: Success
    /// Converts the parameters from the path, query and body to those of the call; nil if they have the same structure.
    var convertParameters: (@Sendable ([String: JSONValue]) -> [String: JSONValue])?

    /// The schema of a live's id: printable ASCII characters without blanks and `/`.
    static let liveID = Schema.text(1...48, pattern: "^[!-.0-~]{1,48}$")
    /// Returns the schema of an identifier: letters, digits, hyphens and underscores.
    static func identifier(_ maxLength: Int) -> Schema {
        .text(1...maxLength, pattern: "^[A-Za-z0-9_-]{1,\(maxLength)}$")
    }
    /// The schema of a user's id.
    static let userID = Self.identifier(32)

    /// Returns the call's method: `call`, or the part of the request's path that contains it.
    ///
    /// Methods are ASCII. Each byte of the path part that is not ASCII is replaced by a question mark, because a text
    /// with such bytes can be very slow to hash and to compare (`String.init(ascii:)`).
    func method(of request: HTTPRequest) -> String {
        self.call ?? request.parameters["method"].map { String(ascii: $0.utf8) } ?? ""
    }
}

extension Route.PathPart {
    /// The path part with the live's id.
    static let live = Self(name: "live", field: "live", schema: Route.liveID, summary: "The live's id.")
    /// The path part with the user's id.
    static let user = Self(name: "user", field: "user", schema: Route.userID, summary: "The user's id.")
}
