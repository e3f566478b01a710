// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import HTTPServer
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The gateway over HTTP, `/v1/…`: reads for everybody, and an app's own server's calls (PROTOCOL.md).
///
/// A request becomes the same call as a frame's, so everything is checked in one place. Reads are answered on the
/// server's thread; the rest waits for a shard.
struct GatewayAPI: Sendable {
    private let gateway: Gateway

    /// Serves `gateway`.
    init(_ gateway: Gateway) { self.gateway = gateway }

    /// What a route makes of a request: the method's name, and parameters beside those of the body.
    private struct Operation: Sendable {
        var method: String
        /// Parameters from the path, by the names in the pattern.
        var path: [String: String] = [:]
        var texts: [String] = []
        var numbers: [String] = []
    }

    /// The handler of all routes.
    var handler: HTTPHandler {
        var router = Router<HTTPHandler>()
        func add(_ method: HTTPMethod, _ pattern: String, _ operation: Operation) {
            router.add(method, pattern) { request, responder in self.serve(request, operation, responder) }
        }
        let live = ["live": "live"]
        add(.get, "/v1/lives", Operation(method: "live.list", texts: ["cursor"], numbers: ["count", "category"]))
        add(.post, "/v1/lives", Operation(method: "live.create"))
        add(.get, "/v1/lives/{live}", Operation(method: "live.get", path: live))
        add(.patch, "/v1/lives/{live}", Operation(method: "live.update", path: live))
        add(.delete, "/v1/lives/{live}", Operation(method: "live.end", path: live))
        add(.get, "/v1/lives/{live}/metadata", Operation(method: "metadata.get", path: live))
        add(.put, "/v1/lives/{live}/metadata", Operation(method: "metadata.set", path: live))
        add(.delete, "/v1/lives/{live}/metadata", Operation(method: "metadata.delete", path: live))
        add(.get, "/v1/lives/{live}/count", Operation(method: "audience.count", path: live))
        add(.get, "/v1/lives/{live}/stage", Operation(method: "stage.get", path: live))
        add(.post, "/v1/lives/{live}/kick", Operation(method: "audience.kick", path: live))
        add(
            .get, "/v1/lives/{live}/audience",
            Operation(method: "audience.list", path: live, texts: ["cursor"], numbers: ["count"]))
        add(.post, "/v1/lives/{live}/messages", Operation(method: "barrage.sendCustom", path: live))
        add(.post, "/v1/battles/{battle}/scores", Operation(method: "battle.score", path: ["battle": "battle"]))
        router.add(.post, "/v1/call/{method}") { request, responder in
            self.serve(request, Operation(method: request.parameters["method"] ?? ""), responder)
        }
        return router.handler(failureBody: Self.failureBody)
    }

    /// The body of an answer that no route gave.
    static let failureBody: HTTPFailure.Body = { failure in
        let code: ReplyCode =
            switch failure {
            case .notFound, .methodNotAllowed: .unknownMethod
            case .unavailable: .unavailable
            case .deadlineExceeded: .timedOut
            case .payloadTooLarge: .messageTooLong
            case .badRequest, .headersTooLarge: .badFrame
            }
        return Outcome.failure(error: ReplyError(code, failure.rawValue)).json
    }

    private func serve(_ request: HTTPRequest, _ operation: Operation, _ responder: HTTPResponder) {
        do throws(ReplyError) {
            guard let token = request.bearerToken else {
                throw ReplyError(.tokenInvalid, "give a token: Authorization: Bearer …")
            }
            let admission = try self.gateway.gate.admit(token)
            let params = try Self.params(of: request, operation)
            try self.call(request, operation, admission, params, responder)
        } catch {
            responder.complete(Self.response(to: .failure(error: error), operation.method))
        }
    }

    private func call(
        _ request: HTTPRequest, _ operation: Operation, _ admission: Admission, _ params: [UInt8],
        _ responder: HTTPResponder
    ) throws(ReplyError) {
        let session = try Self.session(of: request, admission)
        let user = UserInfo(
            userID: admission.user, userName: admission.name ?? "", avatarURL: admission.avatarURL ?? "")
        let caller = Caller(
            user: user, role: admission.role, request: RequestID(session: session, counter: Shard.requestCounter),
            replyTo: self.gateway.settings.id)
        let method = Self.method(operation.method, params)
        let frame = ClientFrame(id: Shard.requestCounter, method: method, params: params)
        let parsed = try CallParser(app: admission.app, caller: caller).parse(frame)
        switch parsed {
        case .forward(let effect, let room):
            guard room == nil else {
                throw ReplyError(.notInRoom, "only a connected client, or the app's server, acts in a live")
            }
            var record = TopicRecord(effect)
            if let trace = request.headers[TraceContext.headerName].flatMap({ TraceContext($0) }) {
                record.headers.append((TraceContext.headerName, trace.bytes))
            }
            self.gateway.begin(
                RequestCall(session: session, method: method, record: record) { outcome in
                    responder.complete(Self.response(to: outcome, method))
                })
        case .join, .leave, .login:
            throw ReplyError(.unknownMethod, "\(method) needs a WebSocket")
        case .ping, .list, .get, .count, .stage, .metadata, .gifts, .app:
            let result = try self.gateway.answer(parsed, app: admission.app)
            responder.complete(Self.response(to: .success(result: result), method))
        }
    }

    /// A message with a text is a text message.
    private static func method(_ method: String, _ params: [UInt8]) -> String {
        struct Text: Decodable { var text: String? }
        guard method == "barrage.sendCustom", let parsed = try? Wire.decode(Text.self, from: params),
            parsed.text != nil
        else { return method }
        return "barrage.sendText"
    }

    /// The same key gives the same session, so a request that is sent again is not applied twice (I15).
    private static func session(of request: HTTPRequest, _ admission: Admission) throws(ReplyError) -> SessionID {
        let key = request.headers["idempotency-key"]
        guard key.map({ (1...128).contains($0.utf8.count) }) ?? true else {
            throw ReplyError(.badParameter, "Idempotency-Key is 1 to 128 bytes")
        }
        var random = SystemRandomNumberGenerator()
        return SessionName.ofRequest(
            admission.key, role: admission.role, key: key ?? "\(random.next() as UInt64)-\(random.next() as UInt64)")
    }

    /// The body's parameters, with those of path and query behind them.
    private static func params(of request: HTTPRequest, _ operation: Operation) throws(ReplyError) -> [UInt8] {
        var extra: [(String, [UInt8])] = []
        for (name, parameter) in operation.path.sorted(by: { $0.key < $1.key }) {
            extra.append((name, Wire.encode(request.parameters[parameter] ?? "")))
        }
        for name in operation.texts {
            if let text = request.query(name) { extra.append((name, Wire.encode(text))) }
        }
        for name in operation.numbers {
            guard let text = request.query(name) else { continue }
            guard let number = Int(text) else { throw ReplyError(.badParameter, "\(name) is not a whole number") }
            extra.append((name, Wire.encode(number)))
        }
        let keys = request.query.filter { $0.name == "key" }.map(\.value)
        if operation.method.hasPrefix("metadata."), !keys.isEmpty { extra.append(("keys", Wire.encode(keys))) }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        var body = request.body[...].drop { blanks.contains($0) }
        while let last = body.last, blanks.contains(last) { body = body.dropLast() }
        if body.isEmpty { body = Array("{}".utf8)[...] }
        guard body.first == UInt8(ascii: "{"), body.last == UInt8(ascii: "}") else {
            throw ReplyError(.badFrame, "the body is not a JSON object")
        }
        var params = Array(body.dropLast())
        for (name, value) in extra {
            if params.contains(where: { $0 != UInt8(ascii: "{") && !blanks.contains($0) }) {
                params.append(UInt8(ascii: ","))
            }
            params += Array("\"\(name)\":".utf8) + value
        }
        params.append(UInt8(ascii: "}"))
        return params
    }

    private static func response(to outcome: Outcome, _ method: String) -> HTTPResponse {
        switch outcome {
        case .success: return HTTPResponse(status: method == "live.create" ? 201 : 200, body: outcome.json)
        case .failure(let error):
            var headers: [HTTPHeader] = []
            let status = HTTPStatus.of(error.code)
            if status == 401 { headers.append(HTTPHeader("WWW-Authenticate", "Bearer")) }
            if status == 503 || status == 429 {
                headers.append(HTTPHeader("Retry-After", "\(max(1, ((error.retryAfter ?? 1000) + 999) / 1000))"))
            }
            return HTTPResponse(status: status, headers: headers, body: outcome.json)
        }
    }
}

/// The HTTP status that goes with a refusal; the body says more.
enum HTTPStatus {
    /// The status of a code.
    static func of(_ code: ReplyCode) -> Int {
        switch code {
        case .tokenExpired, .tokenInvalid, .notLoggedIn: 401
        case .noPermission, .needsOwner, .needsOwnerOrAdmin, .banned, .muted, .userMuted, .roomMuted, .staleTicket: 403
        case .noSuchRoom, .noSuchRoomOnEntry, .noSuchUser, .noSuchBattle, .noSuchConnection, .noSuchSeat,
            .noSuchMetadataKey, .notMember, .unknownMethod:
            404
        case .badParameter, .invalidParameter, .badRoomID, .badRoomName, .badFrame, .tooManyMetadataKeys,
            .metadataValueTooLong, .metadataTooLong, .metadataKeyTooLong, .messageTooLong, .sensitiveWords:
            400
        case .cursorExpired: 410
        case .tooFrequent, .createdTooOften, .droppedByBudget, .connectionTooFrequent, .battleTooFrequent: 429
        case .overloaded, .unavailable: 503
        case .timedOut: 504
        case .internalError, .failed: 500
        default: 409
        }
    }
}
