// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import GatewayCore
internal import HTTPServer
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The HTTP API of the gateway, `/v1/…`: reads for every token, and calls for an app's own server
/// (docs/HTTP-API.md, section 1).
///
/// A request is converted to a call, as a WebSocket frame is, so both pass the same checks. Reads are answered on the
/// HTTP server's thread; other calls are posted to a shard.
struct GatewayAPI: Sendable {
    private let gateway: Gateway
    private let rates: HTTPRequestRates

    /// Creates the API of `gateway`.
    init(_ gateway: Gateway) {
        self.gateway = gateway
        self.rates = HTTPRequestRates(gateway.settings)
    }

    /// The handler of all routes.
    ///
    /// It checks the token and the rates before it reads a body.
    var handler: HTTPHeadHandler {
        var router = Router<HTTPHeadHandler>()
        for route in RouteTable.all {
            router.add(route.method, route.path) { request in self.checkHead(of: request, route) }
        }
        // `.reject` sends a response without reading the request's body; here the response is a success.
        let sendDescription: HTTPHeadHandler = { _ in .reject(HTTPResponse(status: 200, body: OpenAPIDocument.bytes)) }
        router.add(.get, "/openapi.json", self.limitingAnonymous(sendDescription))
        if let pages = self.gateway.settings.pages {
            PagesAPI(self.gateway, pages).add(
                to: &router, limitingFiles: { self.limiting($0, by: self.rates.admitPageFile) },
                limiting: { self.limitingAnonymous($0) })
        }
        return router.headHandler(failureBody: Self.failureBody, unrouted: self.countAnonymous)
    }

    /// Returns a handler that calls `handler` only within the client address's limit of requests that need no token.
    ///
    /// If such a request has a token, the token is ignored.
    private func limitingAnonymous(_ handler: @escaping HTTPHeadHandler) -> HTTPHeadHandler {
        self.limiting(handler, by: self.rates.admitAnonymous)
    }

    /// Returns a handler that counts each request of an address with `admit`, and calls `handler` unless `admit`
    /// throws.
    private func limiting(
        _ handler: @escaping HTTPHeadHandler, by admit: @escaping @Sendable (IPAddress?) throws(APIError) -> Void
    ) -> HTTPHeadHandler {
        { request in
            self.count(request, by: admit, orRejectAs: .httpAnonymousRate).map { .reject($0) } ?? handler(request)
        }
    }

    /// Counts a request without a token; returns the rejecting response if its address has sent too many of them.
    private func countAnonymous(_ request: HTTPRequest) -> HTTPResponse? {
        self.count(request, by: self.rates.admitAnonymous, orRejectAs: .httpAnonymousRate)
    }

    /// Counts a request with `admit`, which throws if the request's address has sent too many.
    ///
    /// - Returns: The rejecting response if `admit` throws; the metrics then count a rejection with `reason`.
    private func count(
        _ request: HTTPRequest, by admit: (IPAddress?) throws(APIError) -> Void, orRejectAs reason: RefusalReason
    ) -> HTTPResponse? {
        do throws(APIError) {
            try admit(request.client)
            return nil
        } catch {
            self.gateway.metrics.refused(reason)
            return error.response
        }
    }

    /// Creates the body of a response that no route has produced.
    static let failureBody: HTTPFailure.Body = { failure in
        let code: ReplyCode =
            switch failure {
            case .notFound, .methodNotAllowed: .unknownMethod
            case .unavailable: .unavailable
            case .deadlineExceeded: .timedOut
            case .payloadTooLarge: .messageTooLong
            case .badRequest, .headersTooLarge: .badFrame
            case .tooManyRequests: .tooFrequent
            }
        // A client whose address has too many open requests may try again after 1000 ms.
        let retryAfter: Int64? = failure == .tooManyRequests ? 1000 : nil
        return Outcome.failure(error: ReplyError(code, Self.message(for: failure), retryAfter: retryAfter)).json
    }

    private static func message(for failure: HTTPFailure) -> String {
        switch failure {
        case .badRequest: "the request cannot be understood"
        case .notFound: "nothing is served at this path"
        case .methodNotAllowed: "this path has other methods: see the header Allow"
        case .payloadTooLarge: "the body is over \(GatewayService.fixedHTTPLimits.bodyBytes) bytes"
        case .headersTooLarge:
            "the head is over \(GatewayService.fixedHTTPLimits.headBytes) bytes, or has more than "
                + "\(GatewayService.fixedHTTPLimits.headers) headers or "
                + "\(GatewayService.fixedHTTPLimits.queryItems) query items"
        case .tooManyRequests: "your address has too many requests open"
        case .unavailable: "the gateway stops"
        case .deadlineExceeded: "no answer in time: send the same request again"
        }
    }

    /// Checks the token and the rates; uses only the headers.
    private func checkHead(of request: HTTPRequest, _ route: Route) -> HTTPHeadDecision {
        guard let token = request.bearerToken else {
            // A missing token costs no verification. So the request counts for the address's rate of requests without
            // a token, and not for its rate of rejected tokens. The metrics still count a rejected token.
            if let rejection = self.countAnonymous(request) { return .reject(rejection) }
            self.gateway.metrics.refused(.httpRefusedTokens)
            return .reject(APIError(.tokenInvalid, "give a token: Authorization: Bearer …").response)
        }
        do throws(APIError) {
            let identity: TokenIdentity
            if let known = self.gateway.tokens.identity(of: token) {
                identity = known
            } else {
                // Throws if too many tokens of the address were rejected recently.
                try self.rates.checkTokens(of: request.client)
                let rejection = self.count(request, by: self.rates.admitTokenCheck, orRejectAs: .httpTokenChecks)
                if let rejection { return .reject(rejection) }
                identity = try self.verify(token)
            }
            // The request is counted before the role is checked: a request that the role does not allow counts, too.
            try self.rates.admit(identity, route.method(of: request))
            try Self.checkRole(of: identity, route)
            let announcedBytes = request.announcedBodyBytes
            if let rejection = self.countBody(ofBytes: announcedBytes ?? 0, from: identity) {
                return .reject(rejection)
            }
            // The server calls the closure when it has read the body.
            return .read { request, responder in
                // A chunked body announces no length. It is counted here, before it is decoded, because decoding takes
                // the most time.
                if announcedBytes == nil,
                    let rejection = self.countBody(ofBytes: request.body.count, from: identity)
                {
                    responder.complete(rejection)
                } else {
                    self.serve(request, route, identity, responder)
                }
            }
        } catch {
            if error.status == 401 {
                self.gateway.metrics.refused(.httpRefusedTokens)
                self.rates.countRejectedToken(of: request.client)
            } else if error.status == 429 {
                self.gateway.metrics.refused(.httpRate)
            }
            return .reject(error.response)
        }
    }

    /// Counts the bytes of a caller's body; returns the rejecting response if the caller has sent too many.
    private func countBody(ofBytes byteCount: Int, from identity: TokenIdentity) -> HTTPResponse? {
        do throws(ReplyError) {
            try self.rates.admitBody(ofBytes: byteCount, of: identity)
            return nil
        } catch {
            self.gateway.metrics.refused(.httpBodyBytes)
            return APIError(error).response
        }
    }

    /// Makes the call of a request whose body was read.
    private func serve(
        _ request: HTTPRequest, _ route: Route, _ identity: TokenIdentity, _ responder: HTTPResponder
    ) {
        do throws(APIError) {
            let (method, params) = try RequestedCall.read(request, route)
            try self.makeCall(method, params, request, route, identity, responder)
        } catch {
            responder.complete(error.response)
        }
    }

    private func verify(_ token: String) throws(APIError) -> TokenIdentity {
        do throws(ReplyError) {
            return try self.gateway.tokens.verify(token)
        } catch {
            throw APIError(error)
        }
    }

    /// Checks that a token has the role that the route requires.
    private static func checkRole(of identity: TokenIdentity, _ route: Route) throws(APIError) {
        guard case .server = route.access, identity.role != .server else { return }
        throw APIError(
            ReplyError(.noPermission, "this operation is for an app's server: its token has the role server"))
    }

    /// Makes a call: answers a read from the read model, or posts the call to a shard.
    private func makeCall(
        _ method: String, _ params: [UInt8], _ request: HTTPRequest, _ route: Route, _ identity: TokenIdentity,
        _ responder: HTTPResponder
    ) throws(APIError) {
        let status = route.success.status
        do throws(ReplyError) {
            // Checked before the parameters, so that a request without parameters gets this error, too.
            if Self.socketMethods.contains(method) { throw Self.needsWebSocket(method) }
            let session = try self.session(
                of: request, identity, "\(method) \(String(decoding: params, as: UTF8.self))")
            let user = UserInfo(
                userID: identity.user, userName: identity.name ?? "", avatarURL: identity.avatarURL ?? "")
            // The session is made for this one call, so the counter is always the same.
            let caller = Caller(
                user: user, role: identity.role,
                request: RequestID(session: session, counter: ShardHTTPCalls.requestCounter),
                replyTo: self.gateway.settings.id, isLateRetry: try Self.isLateRetry(request))
            let frame = try CallFrame(id: ShardHTTPCalls.requestCounter, method: method, params: params)
            let parsed = try CallParser(app: identity.app, caller: caller).parse(frame)
            switch parsed {
            case .forward(let effect, let requiredLive):
                if let requiredLive {
                    // The caller must be in the live, but nobody is in a live over HTTP. The parser sets `requiredLive`
                    // only for users, not for an app's server.
                    try self.gateway.checkExists(LiveKey(identity.app, requiredLive))
                    throw ReplyError(.notInRoom, "only a connected client, or the app's server, acts in a live")
                }
                try self.admitCreationOrSettings(method, identity)
                try self.gateway.checkLiveCount(for: effect)
                var record = TopicRecord(effect)
                if let trace = request.headers[TraceContext.headerName].flatMap({ TraceContext($0) }) {
                    record.headers.append((TraceContext.headerName, trace.bytes))
                }
                self.gateway.begin(
                    HTTPCall(
                        session: session, app: identity.app, user: identity.role == .user ? identity.user : nil,
                        method: method, record: record
                    ) { [self] outcome in
                        responder.complete(Self.response(to: self.correctViewerTotal(of: outcome, effect), status))
                    })
            case .createAndJoin:
                throw ReplyError(.badParameter, "params.join needs a WebSocket: nobody is in a live over HTTP")
            case .join, .leave, .login, .updateProfile:
                throw Self.needsWebSocket(method)
            case .ping, .list, .get, .count, .stage, .metadata, .candidates, .gifts, .app:
                // The size of a page may be in the body, which was not read when the request was counted.
                if case .list(_, let entryCount, _, _) = parsed { try self.admitPage(with: entryCount, identity) }
                let result = try self.gateway.answer(parsed, app: identity.app)
                responder.complete(Self.response(to: .success(result: result), status))
            }
        } catch {
            throw APIError(error)
        }
    }

    /// Counts the creation of a live, or a server's change of the app's settings.
    ///
    /// These calls have a rate of their own, over WebSocket and HTTP together.
    private func admitCreationOrSettings(_ method: String, _ identity: TokenIdentity) throws(ReplyError) {
        switch identity.role {
        case .user:
            // The other calls of users with a rate of their own can only be made in a live, or by WebSocket.
            guard MeteredCall(method: method) == .creation else { return }
            try self.gateway.admission.admit(.creation, of: identity.userKey)
        case .server:
            guard ServerCall.isChangeOfSettings(method: method) else { return }
            try self.gateway.admission.admit(.settings, ofServersOf: identity.app)
        }
    }

    /// Counts a large page of `live.list` of a user as further requests.
    private func admitPage(with entryCount: Int, _ identity: TokenIdentity) throws(ReplyError) {
        do throws(ReplyError) {
            try self.rates.admitPage(with: entryCount, of: identity)
        } catch {
            self.gateway.metrics.refused(.httpRate)
            throw error
        }
    }

    /// The methods that change what a WebSocket connection is: its user, or the live that it is in.
    private static let socketMethods: Set<String> = ["login", "live.join", "live.leave", "self.update"]

    private static func needsWebSocket(_ method: String) -> ReplyError {
        ReplyError(.unknownMethod, "\(method) needs a WebSocket")
    }

    /// Corrects the number of viewers in the statistics of a running live.
    ///
    /// The statistics come from the fan-out (the machine that writes the feeds). The fan-out gets the number of
    /// viewers from presence (the machine that knows who is in a live) only when the live ends.
    private func correctViewerTotal(of outcome: Outcome, _ effect: Effect) -> Outcome {
        guard case .barrage(let input) = effect, case .success(.statistics(var statistics, let at)) = outcome,
            let count = self.gateway.tables.read({ $0.count(input.key) })
        else { return outcome }
        statistics.totalViewers = max(statistics.totalViewers, Int64(count.totalViewers))
        return .success(result: .statistics(statistics: statistics, at: at))
    }

    /// Returns the id of the session that the request's call belongs to.
    ///
    /// The same idempotency key and `call` (method and parameters) give the same session, so a resent request is not
    /// applied twice (I15 in docs/RULES.md). A request without a key gets a random session.
    private func session(
        of request: HTTPRequest, _ identity: TokenIdentity, _ call: String
    ) throws(ReplyError) -> SessionID {
        let key = request.headers["idempotency-key"]
        if let key, !(1...128).contains(key.utf8.count) || !key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw ReplyError(.badParameter, "Idempotency-Key is 1 to 128 printable ASCII characters without blanks")
        }
        var random = SystemRandomNumberGenerator()
        return self.gateway.settings.sessionNamer.nameOfRequest(
            identity.userKey, role: identity.role, key: key ?? "\(random.next() as UInt64)-\(random.next() as UInt64)",
            call: call)
    }

    /// Returns whether the request's header says that it was first sent longer ago than an idempotency window lasts.
    private static func isLateRetry(_ request: HTTPRequest) throws(ReplyError) -> Bool {
        guard let text = request.headers["idempotency-age"] else { return false }
        guard let age = Int64(text), age >= 0 else {
            throw ReplyError(.badParameter, "Idempotency-Age is the milliseconds since the request was first sent")
        }
        return Milliseconds(age) >= IdempotencyLimits.lifetime
    }

    private static func response(to outcome: Outcome, _ status: Int) -> HTTPResponse {
        switch outcome {
        case .success: HTTPResponse(status: status, body: outcome.json)
        case .failure(let error): APIError(error).response
        }
    }
}
