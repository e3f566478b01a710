// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import HTTPServer
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The gateway over HTTP, `/v1/…`: reads for everybody, and an app's own server's calls (PROTOCOL.md, section 15).
///
/// A request becomes the same call as a frame's, so everything is checked in one place. Reads are answered on the
/// server's thread; the rest waits for a shard.
struct GatewayAPI: Sendable {
    private let gateway: Gateway
    private let rates: RequestRates

    /// Serves `gateway`.
    init(_ gateway: Gateway) {
        self.gateway = gateway
        self.rates = RequestRates(gateway.settings)
    }

    /// The handler of all routes.
    var handler: HTTPHandler {
        var router = Router<HTTPHandler>()
        for route in RouteTable.all {
            router.add(route.method, route.path) { request, responder in self.serve(request, route, responder) }
        }
        router.add(.get, "/openapi.json") { _, responder in
            responder.complete(HTTPResponse(status: 200, body: OpenAPIDocument.bytes))
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
        return Outcome.failure(error: ReplyError(code, Self.sentence(failure))).json
    }

    private static func sentence(_ failure: HTTPFailure) -> String {
        switch failure {
        case .badRequest: "the request cannot be understood"
        case .notFound: "nothing is served at this path"
        case .methodNotAllowed: "this path has other methods: see the header Allow"
        case .payloadTooLarge: "the body is over \(GatewayService.limits.bodyBytes) bytes"
        case .headersTooLarge:
            "there are more than \(GatewayService.limits.fields) headers or \(GatewayService.limits.queryItems) query items"
        case .unavailable: "the gateway stops"
        case .deadlineExceeded: "no answer in time: send the same request again"
        }
    }

    private func serve(_ request: HTTPRequest, _ route: Route, _ responder: HTTPResponder) {
        do throws(APIRefusal) {
            let admission = try self.admit(request, route)
            let parameters = try RouteInput.parameters(of: request, route)
            let method = route.method(parameters)
            try self.rates.admit(admission, method)
            try self.call(method, parameters, request, route, admission, responder)
        } catch {
            responder.complete(error.response)
        }
    }

    private func admit(_ request: HTTPRequest, _ route: Route) throws(APIRefusal) -> Admission {
        guard let token = request.bearerToken else {
            throw APIRefusal(.tokenInvalid, "give a token: Authorization: Bearer …")
        }
        do throws(ReplyError) {
            let admission = try self.gateway.gate.admit(token)
            if case .server = route.access, admission.role != .server {
                throw ReplyError(.noPermission, "this operation is for an app's server: its token has the role server")
            }
            return admission
        } catch {
            throw APIRefusal(error)
        }
    }

    private func call(
        _ method: String, _ parameters: [String: JSONValue], _ request: HTTPRequest, _ route: Route,
        _ admission: Admission, _ responder: HTTPResponder
    ) throws(APIRefusal) {
        let status = route.success.status
        do throws(ReplyError) {
            let params = Wire.encode(JSONValue.object(parameters))
            let session = try Self.session(
                of: request, admission, "\(method) \(String(decoding: params, as: UTF8.self))")
            let user = UserInfo(
                userID: admission.user, userName: admission.name ?? "", avatarURL: admission.avatarURL ?? "")
            let caller = Caller(
                user: user, role: admission.role,
                request: RequestID(session: session, counter: Shard.requestCounter),
                replyTo: self.gateway.settings.id)
            let frame = ClientFrame(id: Shard.requestCounter, method: method, params: params)
            let parsed = try CallParser(app: admission.app, caller: caller).parse(frame)
            switch parsed {
            case .forward(let effect, let room):
                if let room {
                    try self.gateway.checkExists(LiveKey(admission.app, room))
                    throw ReplyError(.notInRoom, "only a connected client, or the app's server, acts in a live")
                }
                var record = TopicRecord(effect)
                if let trace = request.headers[TraceContext.headerName].flatMap({ TraceContext($0) }) {
                    record.headers.append((TraceContext.headerName, trace.bytes))
                }
                self.gateway.begin(
                    RequestCall(session: session, method: method, record: record) { [self] outcome in
                        responder.complete(Self.response(to: self.completed(outcome, effect), status))
                    })
            case .join, .leave, .login, .rename:
                throw ReplyError(.unknownMethod, "\(method) needs a WebSocket")
            case .ping, .list, .get, .count, .stage, .metadata, .candidates, .gifts, .app:
                let result = try self.gateway.answer(parsed, app: admission.app)
                responder.complete(Self.response(to: .success(result: result), status))
            }
        } catch {
            throw APIRefusal(error)
        }
    }

    /// Entries of a live that runs are counted by presence, which the fan-out hears of at the end.
    private func completed(_ outcome: Outcome, _ effect: Effect) -> Outcome {
        guard case .barrage(let input) = effect, case .success(.statistics(var statistics)) = outcome,
            let count = self.gateway.tables.read({ $0.count(input.key) })
        else { return outcome }
        statistics.totalViewers = max(statistics.totalViewers, Int64(count.totalViewers))
        return .success(result: .statistics(statistics: statistics))
    }

    /// The same key and call give the same session, so a request that is sent again is not applied twice (I15).
    private static func session(
        of request: HTTPRequest, _ admission: Admission, _ call: String
    ) throws(ReplyError) -> SessionID {
        let key = request.headers["idempotency-key"]
        let isGood = key.map { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        guard isGood ?? true else {
            throw ReplyError(.badParameter, "Idempotency-Key is 1 to 128 printable ASCII characters without blanks")
        }
        var random = SystemRandomNumberGenerator()
        return SessionName.ofRequest(
            admission.key, role: admission.role, key: key ?? "\(random.next() as UInt64)-\(random.next() as UInt64)",
            call: call)
    }

    private static func response(to outcome: Outcome, _ status: Int) -> HTTPResponse {
        switch outcome {
        case .success: HTTPResponse(status: status, body: outcome.json)
        case .failure(let error): APIRefusal(error).response
        }
    }
}
