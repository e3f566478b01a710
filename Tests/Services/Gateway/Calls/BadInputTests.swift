// SPDX-License-Identifier: Apache-2.0
import Gateway
import GatewayCore
import MachineKit
import PlazaModel
import Testing

@testable import Tokens

/// Clients that send malformed frames, oversized frames, too many frames or invalid logins.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BadInputTests {
    /// Rules: R16.9.
    @Test func `a malformed frame or call gets the documented code, and the connection stays open`() throws {
        let cluster = try FakeCluster { $0.maxBadFrames = 100 }
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        // The reply has id -1 if the frame is not a call with a valid id.
        let cases: [(frame: String, replyID: Int64, code: ReplyCode)] = [
            ("", -1, .badFrame), ("x", -1, .badFrame), ("[]", -1, .badFrame), ("{}", -1, .badFrame),
            ("{\"id\":\"7\",\"method\":\"ping\"}", -1, .badFrame), ("{\"id\":-1,\"method\":\"ping\"}", -1, .badFrame),
            ("{\"id\":99999999999999999999,\"method\":\"ping\"}", -1, .badFrame),
            ("{\"id\":1.5,\"method\":\"ping\"}", -1, .badFrame), ("{\"id\":5,\"method\":7}", -1, .badFrame),
            (String(repeating: "[", count: 5000), -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",}", -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",\"x\":[1, ]}", -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",\"x\":01}", -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",\"x\":{\"y\":1.}}", -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",\"x\":\"a\nb\"}", -1, .badFrame),
            ("{\"id\":5,\"method\":\"ping\",\"params\":{\"x\":\"\\ud800\"}}", -1, .badFrame),
            // Commas and brackets in a string are not syntax errors.
            ("{\"id\":5,\"method\":\",}\\\",]\",\"x\":[[],{}]}", 5, .unknownMethod),
            ("{\"id\":5,\"method\":\"nothing\"}", 5, .unknownMethod),
            ("{\"id\":5,\"method\":\"live.nothing\"}", 5, .unknownMethod),
            ("{\"id\":5,\"method\":\"\"}", 5, .unknownMethod), ("{\"id\":5,\"method\":\".\"}", 5, .unknownMethod),
            ("{\"id\":5,\"method\":\"live.get\"}", 5, .badParameter),
            ("{\"id\":5,\"method\":\"live.get\",\"params\":[]}", 5, .badParameter),
            ("{\"id\":5,\"method\":\"live.get\",\"params\":{\"live\":7}}", 5, .badParameter),
            ("{\"id\":5,\"method\":\"live.get\",\"params\":{\"live\":\"\"}}", 5, .badRoomID),
            ("{\"id\":5,\"method\":\"live.get\",\"params\":{\"live\":\"a b\"}}", 5, .badRoomID),
            ("{\"id\":5,\"method\":\"live.get\",\"params\":{\"live\":\"nowhere\"}}", 5, .noSuchRoom),
            ("{\"id\":5,\"method\":\"live.list\",\"params\":{\"count\":0}}", 5, .badParameter),
            ("{\"id\":5,\"method\":\"live.list\",\"params\":{\"count\":51}}", 5, .badParameter),
            ("{\"id\":5,\"method\":\"live.list\",\"params\":{\"cursor\":\"x\"}}", 5, .cursorExpired),
            ("{\"id\":5,\"method\":\"seat.apply\",\"params\":{\"live\":\"room\",\"timeout\":0}}", 5, .badParameter),
            (
                "{\"id\":5,\"method\":\"audience.kick\",\"params\":{\"live\":\"room\",\"user\":\"a/b\"}}", 5,
                .badParameter
            ),
        ]
        for (frame, replyID, code) in cases {
            try client.send(frame)
            guard case .failure(let error) = try client.answer(to: replyID) else {
                Issue.record("\(frame.prefix(60)) succeeded")
                continue
            }
            #expect(error.code == code, "\(frame.prefix(60))")
            #expect(!error.message.isEmpty)
        }
        #expect(try client.getsPong())
    }

    @Test func `I16 oversized or binary frames and too many malformed ones close the connection`() throws {
        let cluster = try FakeCluster { $0.maxBadFrames = 5 }
        let (large, _) = try cluster.client("eve")
        try large.send(String(repeating: "x", count: Limits.clientFrameBytes + 1))
        // 1009, 1007 and 1002 are codes of RFC 6455: too large, not UTF-8, protocol error. `DisconnectCode` has
        // LivePlaza's own codes.
        #expect(try large.closeCode() == 1009)
        let binary = try WireClient(port: cluster.gateway.port)
        try binary.write(WireClient.maskedFrame(.binary, [1, 2, 3]))
        #expect(try binary.closeCode() == DisconnectCode.protocolViolation.code)
        let invalidUTF8 = try WireClient(port: cluster.gateway.port)
        try invalidUTF8.write(WireClient.maskedFrame(.text, [0xFF, 0xFE]))
        #expect(try invalidUTF8.closeCode() == 1007)
        let unmasked = try WireClient(port: cluster.gateway.port)
        // The text frame `{}` without a mask.
        try unmasked.write([WireClient.FirstByte.text.rawValue, 2, UInt8(ascii: "{"), UInt8(ascii: "}")])
        #expect(try unmasked.closeCode() == 1002)
        let malformed = try WireClient(port: cluster.gateway.port)
        for _ in 0..<5 { try malformed.send("no call") }
        #expect(try malformed.closeCode() == DisconnectCode.protocolViolation.code)
        let interrupted = try WireClient(port: cluster.gateway.port)
        // The connection ends within the header of a masked text frame: after 126 two bytes of the length must come,
        // and only one does.
        try interrupted.write([WireClient.FirstByte.text.rawValue, 0x80 | 126, 1])
        interrupted.cutConnection()
        let (good, _) = try cluster.client("bob")
        #expect(try good.getsPong(), "the gateway still serves other clients")
    }

    @Test func `I16 a client that sends calls faster than the rate of frames is disconnected`() throws {
        let cluster = try FakeCluster { $0.admission.frames = RateLimit(50) }
        let (client, _) = try cluster.client("bob")
        for id in Int64(10)..<200 { try client.begin("ping", id: id) }
        #expect(try client.closeCode() == DisconnectCode.flooding.code)
    }

    @Test func `a WebSocket is opened only with a known path, and with the known subprotocol or none`() throws {
        let cluster = try FakeCluster()
        #expect(try WireClient(port: cluster.gateway.port, path: "/").status == 101)
        #expect(try WireClient(port: cluster.gateway.port, subprotocols: nil).status == 101)
        #expect(try WireClient(port: cluster.gateway.port, subprotocols: "other, liveplaza.v1").status == 101)
        #expect(try WireClient(port: cluster.gateway.port, subprotocols: "other").status == 400)
        #expect(try WireClient(port: cluster.gateway.port, path: "/v2").status == 404)
    }

    @Test func `a login with an invalid field is rejected, and a second login without the field succeeds`() throws {
        let cluster = try FakeCluster()
        let token = FakeCluster.Tokens.token("bob")
        // A name has at most 100 bytes, a URL 200.
        for invalidField in [
            "\"session\":\"a b\"", "\"session\":\"\"", "\"session\":7",
            "\"name\":\"\(String(repeating: "n", count: 101))\"",
            "\"avatarURL\":\"\(String(repeating: "n", count: 201))\"",
            "\"resume\":{\"live\":\"a/b\",\"ticket\":1,\"position\":{\"epoch\":1,\"number\":1}}",
            "\"resume\":{\"live\":\"a\",\"ticket\":\"x\",\"position\":{\"epoch\":1,\"number\":1}}",
            "\"resume\":{\"live\":\"a\",\"ticket\":1}",
        ] {
            let client = try WireClient(port: cluster.gateway.port)
            guard case .failure(let error) = try client.call("login", "{\"token\":\"\(token)\",\(invalidField)}") else {
                Issue.record("\(invalidField.prefix(60)) was accepted")
                continue
            }
            #expect(error.code == .badParameter || error.code == .badRoomID, "\(invalidField.prefix(60))")
            guard case .failure(let pingError) = try client.call("ping") else {
                Issue.record("\(invalidField.prefix(60)) logged the client in")
                continue
            }
            #expect(pingError.code == .notLoggedIn, "a rejected login logs nobody in (PROTOCOL.md, section 7)")
            guard case .success = try client.call("login", "{\"token\":\"\(token)\"}") else {
                Issue.record("the login without \(invalidField.prefix(60)) failed")
                continue
            }
        }
    }

    /// The test reconnects whenever the gateway closes a connection.
    ///
    /// Two of three connections begin with a valid login. The limits are so high that no rate is exceeded.
    @Test func `a gateway that has received 100,000 mutated frames still serves clients`() throws {
        let cluster = try FakeCluster { settings in
            settings.maxBadFrames = 250
            settings.admission.frames = RateLimit(60_000)
            settings.admission.bytes = RateLimit(1 << 30)
            settings.admission.framesBeforeLogin = 60_000
            settings.admission.bytesBeforeLogin = 1 << 30
            settings.admission.handshakes = RateLimit(60_000)
            settings.admission.logins = RateLimit(60_000)
            settings.shards = 1
        }
        cluster.create("room")
        let loginFrame = "{\"id\":1,\"method\":\"login\",\"params\":{\"token\":\"\(FakeCluster.Tokens.token("bob"))\"}}"
        let validFrames = [
            loginFrame,
            "{\"id\":2,\"method\":\"live.join\",\"params\":{\"live\":\"room\"}}",
            "{\"id\":3,\"method\":\"barrage.sendText\",\"params\":{\"live\":\"room\",\"text\":\"hello\"}}",
            "{\"id\":4,\"method\":\"live.list\",\"params\":{\"cursor\":\"\",\"count\":20}}",
            "{\"id\":5,\"method\":\"live.create\",\"params\":{\"live\":\"mine\",\"metaData\":{\"a\":\"b\"}}}",
            #"{"id":6,"method":"battle.score","params":{"battle":"b","scores":[{"live":"a","score":1}]}}"#,
            "{\"id\":7,\"method\":\"ping\"}",
        ].map { Array($0.utf8) }
        var random = SeededRandom(seed: 20_261_121)
        var sentFrames = 0
        var connectionCount = 0
        while sentFrames < 100_000 {
            let client = try WireClient(port: cluster.gateway.port)
            connectionCount += 1
            // The settings admit 60,000 handshakes and logins a second.
            #expect(connectionCount < 60_000, "the limits of handshakes and logins are not reached")
            if Int.random(in: 0..<3, using: &random) > 0 { try client.send(loginFrame) }
            do {
                // One connection sends at most 500 bursts of 20 frames.
                for _ in 0..<500 where sentFrames < 100_000 {
                    var burst: [UInt8] = []
                    for _ in 0..<20 {
                        burst += Self.mutatedFrame(of: validFrames, &random)
                        sentFrames += 1
                    }
                    try client.write(burst)
                    // Reads all replies that have arrived, so that the gateway never waits for this client.
                    while !client.isQuiet(milliseconds: 0) {
                        if case .frame = try client.next() { continue }
                        throw WireClient.Failure(description: "the gateway closed the connection")
                    }
                }
            } catch {
                // The gateway may close a connection after malformed frames; the loop then opens another one.
                continue
            }
        }
        let (good, _) = try cluster.client("eve")
        #expect(try good.getsPong())
        guard case .success(.joined) = try good.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("a client cannot join after the mutated frames")
            return
        }
    }

    /// A masked text frame with one of the payloads, after up to three random changes of bytes or ranges of bytes.
    private static func mutatedFrame(of payloads: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        var payload = payloads[Int.random(in: 0..<payloads.count, using: &random)]
        for _ in 0..<Int.random(in: 0...3, using: &random) where !payload.isEmpty {
            let index = Int.random(in: 0..<payload.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: payload[index] = UInt8.random(in: 0x20...0x7E, using: &random)
            case 1: payload.remove(at: index)
            case 2: payload.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: index)
            case 3: payload.removeSubrange(index...)
            case 4: payload += payload[index...]
            default: payload[index] = UInt8.random(in: 0...255, using: &random)
            }
        }
        var frame = WireClient.maskedFrame(.text, payload)
        // In one frame of fifty, one of the first six bytes is changed as well. These are the header and the mask of a
        // short frame.
        if Int.random(in: 0..<50, using: &random) == 0 {
            frame[Int.random(in: 0..<min(6, frame.count), using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        return frame
    }

    /// Rules: R2.3.
    @Test func `I17 a token whose claim exceeds a limit is rejected, and the error names the claim`() throws {
        let cluster = try FakeCluster()
        let client = try WireClient(port: cluster.gateway.port)
        // The claim `avatar` is one byte too long. The test signs the payload with the app's key, as an app would.
        let key = try #require(try AppKeyring(json: FakeCluster.Tokens.appsFile).signingKey(for: "demo"))
        let longAvatar = String(repeating: "a", count: 201)
        let payload = #"{"app":"demo","sub":"bob","exp":9000000000,"avatar":"\#(longAvatar)"}"#
        let token = try #require(key.handle.sign(Array(payload.utf8), algorithm: key.algorithm, kid: key.kid))
        guard case .failure(let error) = try client.call("login", #"{"token":"\#(token)"}"#) else {
            Issue.record("the token was accepted")
            return
        }
        #expect(error.code == .tokenInvalid)
        #expect(error.message == "the token is not valid here: avatar has 201 bytes; at most 200 are possible")
    }
}
