// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

/// A method with valid parameters, and the call that the parser must make of them.
struct CallSpec: Sendable {
    /// The JSON type of a parameter; the raw value is the end of the error message for a value of another type.
    enum Kind: String, Sendable {
        case text = "is not a string"
        case number = "is not a whole number in range"
        case flag = "is not true or false"
        /// An array or an object.
        case list = "is not of the right type"

        /// A JSON value of another type: a number for a text, and a text for all others.
        var wrongValue: String { self == .text ? "7" : "\"x\"" }
    }

    /// A parameter with a valid value.
    struct Field: Sendable {
        var name: String
        var kind: Kind
        /// The value as JSON.
        var json: String
        var isRequired: Bool
    }

    var method: String
    /// Whether a user or an app's server calls.
    var role = CallerRole.user
    var fields: [Field]
    var expected: ParsedCall

    init(_ method: String, _ fields: [Field], _ expected: ParsedCall, role: CallerRole = .user) {
        self.method = method
        self.role = role
        self.fields = fields
        self.expected = expected
    }

    /// The parameters as JSON, without the parameter `omitted`, and with `json` in place of the parameter `name`.
    func params(without omitted: String? = nil, replacing name: String? = nil, by json: String = "") -> String {
        let members = self.fields.filter { $0.name != omitted }
            .map { "\"\($0.name)\":\($0.name == name ? json : $0.json)" }
        return "{\(members.joined(separator: ","))}"
    }

    /// Parses a call of a user who is in the live `concert`, or of an app's server, which is not in a live.
    static func parse(_ method: String, _ params: String?, role: CallerRole = .user) -> Result<ParsedCall, ReplyError> {
        let frame = "{\"id\":9,\"method\":\"\(method)\"" + (params.map { ",\"params\":\($0)" } ?? "") + "}"
        let caller = role == .user ? Samples.caller : Samples.server
        do throws(ReplyError) {
            let parser = CallParser(app: Samples.app, caller: caller, in: role == .user ? Samples.live : nil)
            return .success(try parser.parse(try CallFrame(Array(frame.utf8))))
        } catch {
            return .failure(error)
        }
    }

    /// The error with which a call is rejected; nil if it is accepted.
    static func rejection(_ method: String, _ params: String?, role: CallerRole = .user) -> ReplyError? {
        if case .failure(let error) = self.parse(method, params, role: role) { return error }
        return nil
    }
}

extension CallSpec.Field {
    static func text(_ name: String, _ value: String, isRequired: Bool = true) -> Self {
        Self(name: name, kind: .text, json: "\"\(value)\"", isRequired: isRequired)
    }
    static func number(_ name: String, _ value: Int64, isRequired: Bool = false) -> Self {
        Self(name: name, kind: .number, json: "\(value)", isRequired: isRequired)
    }
    static func flag(_ name: String, _ value: Bool) -> Self {
        Self(name: name, kind: .flag, json: "\(value)", isRequired: false)
    }
    static func list(_ name: String, _ json: String, isRequired: Bool = false) -> Self {
        Self(name: name, kind: .list, json: json, isRequired: isRequired)
    }
    static let live = Self.text("live", "concert")
    static let user = Self.text("user", "bob")
    static let users = Self.list("users", "[\"bob\"]", isRequired: true)
    static let to = Self.list("to", "[\"duet\"]")
}
