// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// A call in a client's frame: `{"id":7,"method":"barrage.sendText","params":{…}}`.
package struct CallFrame: Sendable {
    /// The call's number, which grows within a session; a call that is sent again has the same number (I15).
    package let id: Int64
    package let method: String
    /// How long ago the client first sent the call, in milliseconds; nil if the client sends the call for the first
    /// time, or does not state the age.
    package let age: Int64?
    /// The scanned frame; the entry of the whole frame has the index 0.
    private let json: StrictJSON
    /// The index of the value of `params`; nil if the frame has no parameters.
    private let params: Int?

    /// All members except the parameters.
    private struct Head: Decodable {
        var id: Int64
        var method: String
        var age: Int64?
    }

    /// Scans a frame and decodes the call's id and method; the parameters are decoded once the method is known.
    ///
    /// - Throws: `badFrame` when the bytes are not a call (R16.9).
    package init(_ bytes: [UInt8]) throws(ReplyError) {
        do throws(WireError) {
            guard let json = StrictJSON(bytes) else { throw .notJSON }
            let head = try Wire.decode(Head.self, from: json, at: 0)
            guard head.id >= 0 else { throw .badField(path: "id", message: "is negative") }
            self.init(id: head.id, method: head.method, age: head.age, json)
        } catch {
            throw ReplyError(.badFrame, "not a call: " + error.message)
        }
    }

    /// Creates a call from an HTTP request; `params` is the JSON of the parameters.
    ///
    /// - Throws: `badParameter` when `params` is not JSON.
    package init(id: Int64, method: String, params: [UInt8]) throws(ReplyError) {
        let bytes = Array("{\"params\":".utf8) + (params.isEmpty ? Array("{}".utf8) : params) + [UInt8(ascii: "}")]
        guard let json = StrictJSON(bytes) else { throw ReplyError(.badParameter, WireError.notJSON.message) }
        self.init(id: id, method: method, age: nil, json)
    }

    private init(id: Int64, method: String, age: Int64?, _ json: StrictJSON) {
        self.id = id
        // Each byte that is not ASCII becomes `?`, because Swift compares text with a long run of combining marks in
        // quadratic time. No method's name contains `?`, so such a call has an unknown method.
        self.method = String(ascii: method.utf8)
        self.age = age
        self.json = json
        self.params = json.member("params", of: 0)
    }

    /// Decodes the call's parameters as `Params`; a missing `params` counts as `{}`.
    ///
    /// - Throws: `badParameter` with the name of the field.
    package func params<Params: Decodable>(_ type: Params.Type = Params.self) throws(ReplyError) -> Params {
        do throws(WireError) {
            guard let params else { return try Wire.decode(from: Array("{}".utf8)) }
            // Swift's comparison of strings takes quadratic time for a long run of combining marks, so such text is
            // rejected before anything compares it.
            guard !self.json.hasLongMarkRun(at: params) else {
                throw .badField(
                    path: "params", message: "has more than \(String.maxMarks) combining marks in a row")
            }
            return try Wire.decode(from: self.json, at: params)
        } catch {
            throw ReplyError(.badParameter, error.message)
        }
    }

    /// Checks `params` of a method that has no parameters; its members are ignored.
    ///
    /// - Throws: `badParameter` when `params` is not an object, or has too many combining marks in a row.
    package func checkIgnoredParams() throws(ReplyError) { _ = try self.params(NoParams.self) }

    private struct NoParams: Decodable {
        private enum NoKey: CodingKey {}
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKey.self) }
    }
}

/// Parameters of `login`.
package struct LoginParams: Codable, Sendable, Hashable {
    package var token: String
    /// The session to continue; nil if the gateway must create a session.
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
