// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import GatewayCore
import Glibc
import HTTPServer
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// The routes of the HTTP API: who may use them, what they answer, and which calls they make.
@Suite(.serialized, .timeLimit(.minutes(1))) struct GatewayAPITests {
    private struct Response: Sendable {
        var status: Int
        /// The status line and the headers.
        var head: String
        var body: String
    }

    /// A gateway with its HTTP API on a port.
    private struct ServedGateway: Sendable {
        let cluster: FakeCluster
        let server: WebServer

        init(_ change: (inout GatewaySettings) -> Void = { _ in }) throws {
            self.cluster = try FakeCluster(change)
            self.server = try WebServer(
                port: 0, limits: GatewayService.httpLimits(for: self.cluster.gateway.settings),
                failureBody: GatewayAPI.failureBody, observer: self.cluster.gateway.metrics.requestAnswered,
                headHandler: GatewayAPI(self.cluster.gateway).handler)
        }

        /// Makes a request on a connection of its own, by default with a token of the app's server.
        func request(
            _ method: String, _ path: String, _ body: String = "",
            token: String? = FakeCluster.Tokens.token("shop", role: .server),
            headers: [String] = []
        ) throws -> Response {
            let socket = try WireClient.connect(self.server.port)
            defer { close(socket) }
            var head =
                "\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n"
            if let token { head += "Authorization: Bearer \(token)\r\n" }
            for header in headers { head += header + "\r\n" }
            let bytes = Array((head + "\r\n" + body).utf8)
            _ = unsafe bytes.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, 0) }
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe recv(socket, &buffer, buffer.count, 0)
                if count <= 0 { break }
                received += buffer[..<count]
            }
            let text = String(decoding: received, as: UTF8.self)
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            // The status line begins with `HTTP/1.1 `, then come the three digits of the status.
            return Response(
                status: Int(text.dropFirst(9).prefix(3)) ?? 0, head: String(parts.first ?? ""),
                body: parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// Rules: R12.19.
    @Test func `lives that a user creates by HTTP count with those that it creates by WebSocket`() throws {
        let served = try ServedGateway { $0.admission.creations = RateLimit(2, per: .seconds(60)) }
        let (client, _) = try served.cluster.client("bob")
        #expect(try client.call("live.create", #"{"live":"one"}"#).error == nil)
        func create(_ live: String) throws -> Response {
            try served.request(
                "POST", "/v1/call/live.create", #"{"live":"\#(live)"}"#, token: FakeCluster.Tokens.token("bob"))
        }
        #expect(try create("two").status == 200)
        let rejection = try create("three")
        #expect(rejection.status == 429 && rejection.head.contains("\r\nRetry-After: "))
        #expect(try client.call("live.create", #"{"live":"three"}"#).error?.code == .tooFrequent)
        #expect(served.cluster.refusalCount(.creations) == 2)
    }

    /// Rules: R12.20.
    @Test func `changes of an app's settings have a rate of their own, by WebSocket and HTTP together`() throws {
        let served = try ServedGateway { $0.admission.serverSettings = RateLimit(3, per: .seconds(60)) }
        let (server, _) = try served.cluster.client("shop", role: .server)
        // The fake cluster does not answer changes of settings. The reply to the ping shows that both were counted.
        try server.begin("app.setWords", #"{"words":["bad"]}"#)
        try server.begin("app.removeGift", #"{"gift":"rose"}"#)
        #expect(try server.getsPong())
        for _ in 0..<5 { #expect(try server.call("app.get").error == nil, "a read is no change") }
        // A change that is rejected for its parameters is not counted by HTTP, because it changes nothing.
        #expect(try served.request("PUT", "/v1/app/words", #"{"words":[7]}"#).status == 400)
        try server.begin("app.addWords", #"{"words":["worse"]}"#)
        #expect(try server.getsPong())
        let rejection = try served.request("PUT", "/v1/app/gift-categories/new", #"{"name":"New"}"#)
        #expect(rejection.status == 429 && rejection.head.contains("\r\nRetry-After: "))
        #expect(try server.call("app.setWords", #"{"words":[]}"#).error?.code == .tooFrequent)
        #expect(served.cluster.refusalCount(.serverSettings) == 2)
    }

    /// Rules: R12.21.
    @Test func `a live beyond the app's limit is rejected with 503 and a time to retry`() throws {
        let served = try ServedGateway { $0.admission.livesPerApp = 1 }
        served.cluster.create("arena")
        let rejection = try served.request("POST", "/v1/lives", #"{"live":"bistro","owner":"eve"}"#)
        #expect(rejection.status == 503 && rejection.head.contains("\r\nRetry-After: 5"))
    }

    /// Rules: R13.14.
    @Test func `reads are answered from the read model`() throws {
        let served = try ServedGateway()
        served.cluster.create("arena")
        served.cluster.create("bistro")
        // A list shows only lives that are in the latest ranking, so the ranking is refreshed after the creates.
        served.cluster.gateway.refreshRankingAndPruneNotices()
        let page = try served.request("GET", "/v1/lives?count=1")
        #expect(page.status == 200)
        #expect(page.body.contains("\"liveID\":\"arena\"") && !page.body.contains("\"liveID\":\"bistro\""))
        #expect(page.body.contains("\"cursor\":\"gateway-1."))
        // The details of a live have all these fields, including the empty ones.
        let details = try served.request("GET", "/v1/lives/arena").body
        for field in [
            "room", "details", "info", "epoch", "audience", "liveID", "liveName", "notice", "isMessageDisable",
            "isPublicVisible", "keepOwnerOnSeat", "maxSeatCount", "seatMode", "seatTemplate", "coverURL",
            "backgroundURL", "categoryList", "activityStatus", "isGiftEnabled", "metaData", "liveOwner", "createTime",
            "admins", "status", "maxMemberCount", "count", "totalViewers", "stale", "at",
        ] { #expect(details.contains("\"\(field)\":"), "\(field)") }
        #expect(try served.request("GET", "/v1/lives/arena/stage").body == "{\"result\":{\"stage\":{}}}")
        #expect(try served.request("GET", "/v1/lives/arena/count").status == 200)
        #expect(
            try served.request("GET", "/v1/lives/arena/metadata?key=x").body
                == "{\"result\":{\"metadata\":{\"values\":{}}}}")
        #expect(try served.request("GET", "/v1/lives/nowhere").status == 404)
        #expect(try served.request("GET", "/v1/lives?count=x").status == 400)
        #expect(try served.request("GET", "/v1/lives?count=51").status == 400, "a page has at most 50 lives")
        #expect(try served.request("GET", "/v1/lives?cursor=old").status == 410, "the cursor belongs to no stored list")
        #expect(try served.request("GET", "/v1/nothing").status == 404)
        #expect(try served.request("PUT", "/v1/lives").status == 405)
    }

    /// Rules: R13.42.
    @Test(arguments: [(1, 5), (20, 5), (40, 2), (50, 1)])
    func `a page of the list counts once for each 20 entries that a user asks for`(entries: Int, admitted: Int) throws {
        // A user may make 5 requests at once here. A page of 20 entries counts as one request, a page of 40 as two, and
        // a page of 50 as three. So `admitted` pages are served at once.
        let served = try ServedGateway { $0.userRequestsPerSecond = 5 }
        let listPath = "/v1/lives?count=\(entries)"
        // The route for a call by its name has the size in its body.
        for (method, path, body) in [
            ("GET", listPath, ""), ("POST", "/v1/call/live.list", "{\"count\":\(entries)}"),
        ] {
            let token = FakeCluster.Tokens.token("\(method)-user")
            let begin = ContinuousClock.now
            let statuses = try (0..<12).map { _ in try served.request(method, path, body, token: token).status }
            // While the requests are made, one more is admitted every 200 ms.
            let admittedLater = Int((ContinuousClock.now - begin) / .milliseconds(200)) + 1
            #expect(
                (admitted...admitted + admittedLater).contains(statuses.count { $0 == 200 }), "\(method): \(statuses)")
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 429 })
        }
    }

    /// Rules: R2.5, R13.6.
    @Test func `I17 every route requires a valid token`() throws {
        let served = try ServedGateway()
        for (method, path) in [
            ("GET", "/v1/lives"), ("POST", "/v1/lives"), ("GET", "/v1/lives/arena"), ("POST", "/v1/call/live.list"),
        ] {
            let expiredToken = FakeCluster.Tokens.token("shop", secondsFromNow: -5)
            for token in [nil, "", "x.y.z", expiredToken] {
                let answer = try served.request(method, path, token: token)
                #expect(answer.status == 401)
                #expect(answer.head.contains("WWW-Authenticate: Bearer"))
            }
        }
        served.cluster.create("arena")
        let responseToOtherApp = try served.request(
            "GET", "/v1/lives/arena", token: FakeCluster.Tokens.token("shop", app: "other"))
        #expect(responseToOtherApp.status == 404, "another app does not see the live")
    }

    /// Rules: R13.3, R13.12.
    @Test func `an app's server creates a live for a user, and sends to a live without joining it`() throws {
        let served = try ServedGateway()
        let created = try served.request("POST", "/v1/lives", "{\"live\":\"arena\",\"owner\":\"anna\"}")
        #expect(created.status == 201)
        #expect(created.body.contains("\"userID\":\"anna\""))
        #expect(
            try served.request("POST", "/v1/lives", "{\"live\":\"bistro\"}").status == 400,
            "a server must name the owner")
        let sent = try served.request("POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}")
        #expect(sent.status == 200 && sent.body.contains("\"number\":1"))
        let sentByCall = try served.request("POST", "/v1/call/barrage.sendText", "{\"live\":\"arena\",\"text\":\"hi\"}")
        #expect(sentByCall.status == 200 && sentByCall.body.contains("\"number\":2"))
        let messageByUser = try served.request(
            "POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}", token: FakeCluster.Tokens.token("bob"))
        #expect(
            messageByUser.status == 403 && messageByUser.body.contains("noPermission"),
            "the route is only for an app's server")
        let callByUser = try served.request(
            "POST", "/v1/call/barrage.sendText", "{\"live\":\"arena\",\"text\":\"hi\"}",
            token: FakeCluster.Tokens.token("bob"))
        #expect(callByUser.status == 409 && callByUser.body.contains("notInRoom"), "over HTTP a user is in no live")
        #expect(
            try served.request("POST", "/v1/call/live.join", "{\"live\":\"arena\"}").status == 404,
            "a join is possible only over a WebSocket")
        #expect(try served.request("POST", "/v1/lives", "no json").status == 400)
        #expect(try served.request("POST", "/v1/lives", "{\"live\":}").status == 400)
    }

    @Test func `a body must be one object and cannot name another live than the path`() throws {
        let served = try ServedGateway()
        served.cluster.create("arena")
        served.cluster.create("bistro")
        for body in [#"{"live":"bistro","text":"hi"}"#, #"{"text":"hi","live":"bistro"}"#] {
            let answer = try served.request("POST", "/v1/lives/arena/messages", body)
            #expect(answer.status == 400 && answer.body.contains("badParameter"), "\(body)")
        }
        for body in [
            #"{"text":"hi"}, "x":{}"#, #"{"text":"hi"}{}"#, "{", "}", "{}}", #"{"text":}"#, #"{"text":"hi",}"#,
        ] {
            let answer = try served.request("POST", "/v1/lives/arena/messages", body)
            #expect(answer.status == 400 && answer.body.contains("badFrame"), "\(body)")
        }
        #expect(served.cluster.state.withLock { $0.lastNumber.isEmpty }, "no item was published")
        #expect(try served.request("POST", "/v1/lives/arena/messages", " { \"text\" : \"hi\" } \n").status == 200)
    }

    /// Rules: R13.5.
    @Test func `every failed request gets an error message, and every response is counted`() throws {
        let served = try ServedGateway()
        #expect(try served.request("GET", "/v1/nothing").body.contains("nothing is served at this path"))
        #expect(try served.request("PUT", "/v1/lives").body.contains("see the header Allow"))
        // The failures that the HTTP server itself reports, without a route.
        for failure in HTTPFailure.allCases {
            let body = String(decoding: GatewayAPI.failureBody(failure), as: UTF8.self)
            #expect(
                !body.contains(#""message":"\#(failure.rawValue)""#),
                "the message says more than the name of the failure: \(body)")
        }
        // This is the third request of this test. The first two got 404 and 405.
        #expect(try served.request("GET", "/v1/lives").status == 200)
        let text = PrometheusText.render(served.cluster.registry)
        for line in [
            #"http_requests_total{status="404"} 1"#, #"http_requests_total{status="405"} 1"#,
            #"http_requests_total{status="200"} 1"#, "http_request_seconds_count 3",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test func `I15 a request that is repeated with its idempotency key is not executed again`() throws {
        let served = try ServedGateway()
        let keyHeader = ["Idempotency-Key: order-7"]
        served.cluster.create("arena")
        let first = try served.request("POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}", headers: keyHeader)
        let repeated = try served.request("POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}", headers: keyHeader)
        #expect(first.body == repeated.body)
        #expect(served.cluster.state.withLock { $0.lastNumber[FakeCluster.key("arena")] } == 1)
        let responseToOtherCaller = try served.request(
            "POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}",
            token: FakeCluster.Tokens.token("otherserver", role: .server), headers: keyHeader)
        #expect(responseToOtherCaller.body != first.body, "another caller's request with the same key is executed")
        let otherBody = try served.request("POST", "/v1/lives/arena/messages", "{\"text\":\"ho\"}", headers: keyHeader)
        #expect(
            otherBody.status == 200 && otherBody.body != first.body, "another request with the same key is executed")
        // A key has at most 128 characters, all of them visible ASCII.
        for key in [String(repeating: "k", count: 129), "a b", "é"] {
            let answer = try served.request(
                "POST", "/v1/lives/arena/messages", "{\"text\":\"hi\"}", headers: ["Idempotency-Key: \(key)"])
            #expect(answer.status == 400, "the key \(key) is invalid")
        }
    }

    /// Rules: R13.4.
    @Test func `a request with an invalid query, path, body or method is rejected, and the message says why`() throws {
        let served = try ServedGateway()
        served.cluster.create("arena")
        let cases: [(method: String, path: String, body: String, status: Int, message: String)] = [
            ("GET", "/v1/lives?counts=1", "", 400, "counts is not known here"),
            ("GET", "/v1/lives?count=1&count=2", "", 400, "count is named twice"),
            ("GET", "/v1/lives?count=0", "", 400, "count is 0; 1 to 50 are possible"),
            ("GET", "/v1/lives", "{}", 400, "this operation takes no body"),
            ("POST", "/v1/lives", "", 400, "a JSON body is missing"),
            ("POST", "/v1/lives", #"{"live":"bistro","owner":"anna","name":"B"}"#, 400, "name is not known here"),
            ("POST", "/v1/lives", #"{"live":"bistro","owner":7}"#, 400, "owner is not a string"),
            ("PATCH", "/v1/lives/arena", #"{"seatMode":"maybe"}"#, 400, "seatMode is not one of free, apply"),
            ("PATCH", "/v1/lives/arena/seats/x", "{}", 400, "seat is not a whole number in range"),
            ("DELETE", "/v1/lives/arena/metadata", "", 400, "key is missing"),
            ("DELETE", "/v1/app/words?word=", "", 400, "word.0 has 0 characters; 1 to 100 are possible"),
            ("DELETE", "/v1/lives/arena/bans", "", 400, "user is missing"),
            ("POST", "/v1/lives/arena/bans", #"{"users":["bob"]}"#, 400, "duration is missing"),
            ("DELETE", "/v1/lives/arena/audience/no%20id", "", 400, "user is not a user's id"),
            ("POST", "/v1/call/live.fly", "{}", 404, "there is no method"),
            ("POST", "/v1/call/login", "{}", 404, "login needs a WebSocket"),
            ("POST", "/v1/call/live.leave", "{}", 404, "live.leave needs a WebSocket"),
        ]
        for (method, path, body, status, message) in cases {
            let answer = try served.request(method, path, body)
            #expect(answer.status == status && answer.body.contains(message), "\(method) \(path): \(answer.body)")
        }
        let plainText = try served.request(
            "POST", "/v1/lives", #"{"live":"bistro","owner":"anna"}"#, headers: ["Content-Type: text/plain"])
        #expect(plainText.status == 415)
    }

    /// Rules: R13.9, R13.15.
    @Test func `parameters of the path, query and body are passed to the call`() async throws {
        let served = try ServedGateway()
        // The test itself answers a call, after it has seen the call's record.
        served.cluster.state.withLock { $0.answersCalls = false }
        // Each case ends with a part of the record that the gateway must write.
        let cases: [(method: String, path: String, body: String, expectedText: String)] = [
            ("PUT", "/v1/lives/arena/admins/bob", "", #""setAdmin""#),
            ("DELETE", "/v1/lives/arena/metadata?key=x&key=y", "", #""keys":["x","y"]"#),
            ("PATCH", "/v1/lives/arena/guests/bob", #"{"seatIndex":3}"#, #""to":3,"user":"bob""#),
            ("PATCH", "/v1/lives/arena/seats/2", #"{"locked":false}"#, #""isLocked":false,"seatIndex":2"#),
            ("PUT", "/v1/lives/arena/guests/bob", "", #""place":{"#),
            ("DELETE", "/v1/lives/arena/guests/bob/devices/camera/lock", "", #""device":"camera","isLocked":false"#),
            (
                "PUT", "/v1/app/gifts/rose", #"{"category":"new","name":"Rose","coins":1}"#,
                #""putGift":{"category":"new","gift":{"coins":1,"#
            ), ("PUT", "/v1/app/gift-categories/new", #"{"name":"New"}"#, #""categoryID":"new""#),
            ("DELETE", "/v1/app/words?word=bad&word=worse", "", #""words":["bad","worse"]"#),
            ("GET", "/v1/lives/arena/statistics", "", #""summary":{"#),
            ("GET", "/v1/lives/arena/bans?offset=3&count=7", "", #""count":7,"live":"arena","offset":3"#),
            (
                "POST", "/v1/lives/arena/bans", #"{"users":["bob"],"duration":60,"reason":"spam"}"#,
                #""durationSeconds":60,"live":"arena","reason":"spam","users":["bob"]"#
            ), ("DELETE", "/v1/lives/arena/bans?user=bob&user=eve", "", #""users":["bob","eve"]"#),
            ("GET", "/v1/lives/arena/mutes", "", #""mutes":{"#),
            ("POST", "/v1/lives/arena/mutes", #"{"users":["bob"],"duration":-1}"#, #""durationSeconds":-1"#),
            ("DELETE", "/v1/lives/arena/mutes?user=bob", "", #""durationSeconds":0,"live":"arena","users":["bob"]"#),
            (
                "POST", "/v1/lives/arena/gifts", #"{"gift":"rose","count":2,"receivers":["bob"],"from":"eve"}"#,
                #""count":2,"giftID":"rose","receivers":["bob"]"#
            ), ("POST", "/v1/battles", #"{"live":"arena","to":["bistro"],"duration":60}"#, #""requestBattle":{"#),
            ("GET", "/v1/battles/b-2", "", #""battleInfo":{"battle":"b-2""#),
            ("GET", "/v1/lives/arena/battle", "", #""battleInfo":{"caller""#),
            ("POST", "/v1/call/cohost.request", #"{"live":"arena","to":["bistro"]}"#, #""layoutTemplate":0"#),
            ("POST", "/v1/battles/b-1/scores", #"{"scores":[{"live":"arena","score":5}]}"#, #""updateScores""#),
        ]
        for (method, path, body, expectedText) in cases {
            async let answer = runOnDedicatedThread { try served.request(method, path, body) }
            let isForwarded = try await runOnDedicatedThread {
                try served.cluster.waitForRecord { record -> Bool? in
                    String(decoding: record.value ?? [], as: UTF8.self).contains(expectedText) ? true : nil
                }
            }
            #expect(isForwarded, "\(method) \(path) must write a record with \(expectedText)")
            served.cluster.answerAll()
            #expect((200...201).contains(try await answer.status))
        }
    }

    /// Rules: R13.2.
    @Test func `I16 a server that lists lives too often gets 429 with Retry-After, and its other calls are served`()
        throws
    {
        let served = try ServedGateway()
        served.cluster.create("arena")
        var rejection: Response?
        // A server may list lives ten times a second, so a burst of 40 requests exceeds the rate.
        for _ in 0..<40 where rejection == nil {
            let response = try served.request("GET", "/v1/lives")
            if response.status == 429 { rejection = response }
        }
        #expect(rejection?.head.contains("Retry-After: 1") == true)
        #expect(rejection?.body.contains("\"code\":-2,") == true, "-2 is the code of tooFrequent")
        #expect(try served.request("GET", "/v1/lives/arena").status == 200)
        let tokenOfOtherApp = FakeCluster.Tokens.token("shop", app: "other", role: .server)
        #expect(
            try served.request("GET", "/v1/lives", token: tokenOfOtherApp).status == 200,
            "the rate of one app does not limit another")
    }

    @Test func `the OpenAPI description requires no token`() throws {
        let answer = try ServedGateway().request("GET", "/openapi.json", token: nil)
        #expect(answer.status == 200 && answer.body.contains("\"openapi\":\"3.1.0\""))
    }

    /// Rules: R13.8.
    @Test func `I16 a request gets 503 with Retry-After if the record queue is full or the broker is away`() throws {
        let served = try ServedGateway()
        for sinkRejection in [SinkRejection.full, .unavailable] {
            served.cluster.state.withLock { $0.sinkRejection = sinkRejection }
            let answer = try served.request("POST", "/v1/lives", "{\"live\":\"arena\",\"owner\":\"anna\"}")
            #expect(answer.status == 503)
            #expect(answer.head.contains("Retry-After: 1"))
        }
    }
}
