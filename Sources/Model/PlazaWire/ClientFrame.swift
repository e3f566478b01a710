// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A call in a client's frame: `{"id":7,"method":"barrage.sendText","params":{…}}`.
package struct ClientFrame: Sendable {
    /// Counts up within a session; the same number again is the same call (I15).
    package let id: Int64
    package let method: String
    /// How long ago the call was first sent, in milliseconds; nil: it is sent for the first time, or the client does
    /// not say.
    package let age: Int64?
    private let json: StrictJSON
    /// The index of the value of `params`; nil: there is none.
    private let params: Int?

    private struct Head: Decodable {
        var id: Int64
        var method: String
        var age: Int64?
    }

    /// Scans a frame and decodes the call's id and method; the parameters are decoded once the method is known.
    ///
    /// - Throws: `badFrame` when the bytes are not a call.
    package init(_ bytes: [UInt8]) throws(ReplyError) {
        do throws(WireError) {
            guard let json = StrictJSON(bytes) else { throw .notJSON }
            let head = try Wire.decode(Head.self, from: json, at: 0)
            guard head.id >= 0 else { throw .badField(path: "id", message: "is negative") }
            self.init(id: head.id, method: head.method, age: head.age, json)
        } catch {
            throw ReplyError(.badFrame, "not a call: " + error.words)
        }
    }

    /// A call that a gateway makes from an HTTP request; `params` is the JSON of its parameters alone.
    ///
    /// - Throws: `badParameter` when `params` is not JSON.
    package init(id: Int64, method: String, params: [UInt8]) throws(ReplyError) {
        let json = Array("{\"params\":".utf8) + (params.isEmpty ? Array("{}".utf8) : params) + [UInt8(ascii: "}")]
        guard let json = StrictJSON(json) else { throw ReplyError(.badParameter, WireError.notJSON.words) }
        self.init(id: id, method: method, age: nil, json)
    }

    private init(id: Int64, method: String, age: Int64?, _ json: StrictJSON) {
        self.id = id
        self.method = method
        self.age = age
        self.json = json
        self.params = json.member("params", of: 0)
    }

    /// Decodes the call's parameters as `Params`; a missing `params` counts as `{}`.
    ///
    /// - Throws: `badParameter` that names the field.
    package func params<Params: Decodable>(_ type: Params.Type = Params.self) throws(ReplyError) -> Params {
        do throws(WireError) {
            guard let params else { return try Wire.decode(from: Array("{}".utf8)) }
            return try Wire.decode(from: self.json, at: params)
        } catch {
            throw ReplyError(.badParameter, error.words)
        }
    }

    /// Checks the parameters of a method that takes none.
    ///
    /// - Throws: `badParameter` when `params` is not an object; its members are ignored.
    package func noParams() throws(ReplyError) { _ = try self.params(Nothing.self) }

    private struct Nothing: Decodable {
        private enum NoKey: CodingKey {}
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKey.self) }
    }
}

/// Parameters of `login`.
package struct LoginParams: Codable, Sendable, Hashable {
    package var token: String
    /// Names the session to continue; a new one is made when it is missing.
    package var session: String?
    package var name: String?
    package var avatarURL: String?
    /// The live to resume, and the last feed position received.
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
