// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A call as a client sends it: `{"id":7,"method":"barrage.sendText","params":{…}}`.
package struct ClientFrame: Sendable {
    /// Counts up within a session; the same number again is the same call (I15).
    package let id: Int64
    package let method: String
    private let bytes: [UInt8]

    private struct Head: Decodable {
        var id: Int64
        var method: String
    }
    private struct Body<Params: Decodable>: Decodable {
        var params: Params
    }

    /// Reads the call's head; its parameters are read when its method is known.
    ///
    /// - Throws: `badFrame` when the bytes are no call.
    package init(_ bytes: [UInt8]) throws(ReplyError) {
        do {
            let head = try Wire.decode(Head.self, ofOthers: bytes)
            guard head.id >= 0 else { throw WireError.badField(path: "id", message: "is negative") }
            self.id = head.id
            self.method = head.method
            self.bytes = bytes
        } catch {
            throw ReplyError(.badFrame, "not a call: " + Self.text(error))
        }
    }

    /// A call as a gateway makes it from an HTTP request: the parameters' JSON stands alone.
    package init(id: Int64, method: String, params: [UInt8]) {
        self.id = id
        self.method = method
        self.bytes = Array("{\"params\":".utf8) + (params.isEmpty ? Array("{}".utf8) : params) + [UInt8(ascii: "}")]
    }

    /// The call's parameters as `Params`; a call without any reads as `{}`.
    ///
    /// - Throws: `badParameter` that names the field.
    package func params<Params: Decodable>(_ type: Params.Type = Params.self) throws(ReplyError) -> Params {
        do {
            return try Wire.decode(Body<Params>.self, from: self.bytes).params
        } catch .badField(path: "params", message: "is missing") {
            do {
                return try Wire.decode(Params.self, from: Array("{}".utf8))
            } catch {
                throw ReplyError(.badParameter, Self.text(error))
            }
        } catch {
            throw ReplyError(.badParameter, Self.text(error))
        }
    }

    /// Reads the parameters of a method that has none.
    ///
    /// - Throws: `badParameter` when `params` is no object; what is in it is ignored.
    package func noParams() throws(ReplyError) { _ = try self.params(Nothing.self) }

    private struct Nothing: Decodable {
        private enum NoKey: CodingKey {}
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKey.self) }
    }

    private static func text(_ error: any Error) -> String { (error as? WireError ?? .notJSON).words }
}

/// Parameters of `login`.
package struct LoginParams: Codable, Sendable, Hashable {
    package var token: String
    /// Names the session to continue; a new one is made when it is missing.
    package var session: String?
    package var name: String?
    package var avatarURL: String?
    /// The room to be in again, and from where.
    package var resume: ResumePoint?
    /// The id of the last notice that the client has.
    package var notices: String?

    package init(
        token: String, session: String? = nil, name: String? = nil, avatarURL: String? = nil,
        resume: ResumePoint? = nil, notices: String? = nil
    ) {
        self.token = token
        self.session = session
        self.name = name
        self.avatarURL = avatarURL
        self.resume = resume
        self.notices = notices
    }
}
