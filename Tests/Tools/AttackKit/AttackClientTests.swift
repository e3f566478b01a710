// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaModel
import Testing

@testable import AttackKit

/// Tests of what the connections of each attack of `plaza attack` send, without a gateway.
///
/// A test tells an attack's client that its connection has opened, that a reply has come, or that it is the client's
/// turn to send. The client returns what it sends then.
@Suite struct AttackClientTests {
    /// A gateway closes a connection that sends a larger frame.
    private static let maxFrameBytes = 65_536

    /// The client of the attack's connection number `index`.
    private static func client(_ attack: any Attack, index: Int = 0) -> any AttackClient {
        attack.makeClient(
            AttackClientSetting(
                index: index, attempt: 0, namePrefix: "at-1", random: SeededRandom(seed: 1), partitions: 3, app: "demo",
                honestLives: ["honest"], makeToken: { "token-of-\($0)" }))
    }

    /// The text frames and raw bytes among `actions`, as strings.
    private static func texts(_ actions: [AttackAction]) -> [String] {
        actions.compactMap {
            switch $0 {
            case .text(let text): text
            case .raw(let bytes): String(decoding: bytes, as: UTF8.self)
            case .ping, .stopReading: nil
            }
        }
    }

    private static let loggedIn = Outcome.success(
        result: .loggedIn(session: "s", user: UserInfo(userID: "u"), gateway: "gateway-1", notices: ""))

    @Test func `every attack's client sends something when its connection opens or at its first turn`() {
        for attack in AttackCatalog.all {
            for index in 0..<4 {
                var client = Self.client(attack, index: index)
                let actions = client.opened() + client.takeTurn()
                #expect(!actions.isEmpty, "\(attack.name)")
            }
        }
    }

    @Test func `the number attack puts boundary numbers into a cursor of a reply`() {
        var client = Self.client(NumberAttack())
        _ = client.opened()
        _ = client.replied(.success(result: .lives(items: [], cursor: "gateway-1.17.1")))
        // 80 turns are enough for several boundary numbers in each kind of call.
        let sent = (0..<80).flatMap { _ in Self.texts(client.takeTurn()) }
        #expect(sent.contains { $0.contains("live.list") && $0.contains("gateway-1.17.9223372036854775807") })
        #expect(sent.contains { $0.contains("cohost.candidates") && $0.contains("gateway-1.17.-1") })
    }

    @Test func `the record attack sends bans only after it has joined its own live, and ends the live`() {
        var client = Self.client(OversizedRowAttack(), index: 1)
        _ = client.opened()
        #expect(client.takeTurn().isEmpty && client.cleanUp().isEmpty)
        #expect(Self.texts(client.replied(Self.loggedIn)).first?.contains("live.create") == true)
        _ = client.replied(.success(result: .joined(ticket: Ticket(1), epoch: 1, confirmed: true)))
        let ban = Self.texts(client.takeTurn())
        #expect(ban.contains { $0.contains("live.ban") } && ban.allSatisfy { $0.utf8.count < Self.maxFrameBytes })
        #expect(Self.texts(client.cleanUp()).first?.contains("live.end") == true)
    }

    /// A call of the record attack, whose type is `OversizedRowAttack`.
    private struct RowCall: Decodable {
        struct Params: Decodable {
            var metadata: [String: String]?
            var users: [String]?
            var reason: String?
        }
        var method: String
        var params: Params
    }

    @Test func `the record attack fills rows up to the limits, and never beyond them`() throws {
        var client = Self.client(OversizedRowAttack())
        _ = client.opened()
        _ = client.replied(.success(result: .joined(ticket: Ticket(1), epoch: 1, confirmed: true)))
        var metadata: [String: String] = [:]
        var bannedUsers: Set<String> = []
        for turn in 1...20 {
            for text in Self.texts(client.takeTurn()) {
                let params = try JSONDecoder().decode(RowCall.self, from: Data(text.utf8)).params
                if let values = params.metadata {
                    try MetadataValidation.check(values)
                    let former = metadata
                    metadata.merge(values) { $1 }
                    #expect(metadata != former, "turn \(turn) must change the metadata")
                }
                if let users = params.users {
                    #expect(users.count == SanctionLimits.usersPerCall)
                    let areNewUsers = users.allSatisfy { UserID.isValid($0) && bannedUsers.insert($0).inserted }
                    #expect(areNewUsers)
                    let reason = params.reason ?? ""
                    #expect(TextRule.isPlain(reason, maxBytes: SanctionLimits.reasonBytes))
                    #expect(TextRule.encodedBytes(of: reason) == SanctionLimits.reasonBytes)
                }
            }
            #expect(metadata.count == Limits.metadataKeys)
            #expect(metadata.keys.allSatisfy { $0.utf8.count == Limits.metadataKeyBytes })
            let bytes = metadata.values.reduce(0) { $0 + $1.utf8.count }
            #expect(bytes == Limits.metadataTotalBytes)
            // All but the few digits at the beginning of a value take two bytes in JSON.
            let encodedBytes = metadata.values.reduce(0) { $0 + TextRule.encodedBytes(of: $1) }
            #expect(encodedBytes > 2 * bytes - 100)
        }
    }

    @Test func `slow readers stop reading after the login, and continue to ask for the owner's large metadata`() {
        // Connection 0 owns a live with large metadata, and all others are slow readers.
        var owner = Self.client(SlowReaderAttack(), index: 0)
        _ = owner.opened()
        #expect(Self.texts(owner.replied(Self.loggedIn)).first?.contains("live.create") == true)
        _ = owner.replied(
            .success(result: .live(info: LiveInfo(liveID: "l", liveOwner: UserInfo(userID: "u")), epoch: 1)))
        let metadata = owner.replied(.success(result: .joined(ticket: Ticket(1), epoch: 1, confirmed: true)))
        #expect((16_000..<Self.maxFrameBytes).contains(Self.texts(metadata).first?.utf8.count ?? 0))
        #expect(Self.texts(owner.cleanUp()).first?.contains("live.end") == true)
        var reader = Self.client(SlowReaderAttack(), index: 1)
        // Until the client is logged in, it must read, and it waits.
        #expect(!reader.opened().contains(.stopReading) && reader.takeTurn().isEmpty)
        #expect(reader.replied(Self.loggedIn).first == .stopReading)
        let sent = Self.texts(reader.takeTurn() + reader.takeTurn())
        #expect(sent.count == 2 && sent.allSatisfy { $0.contains("metadata.get") && $0.contains("at-1-large") })
    }

    @Test func `the half frame has half of the payload whose length it announces`() {
        let frame = HalfFrameAttack.halfFrame
        let announcedBytes = Int(frame[2]) << 8 | Int(frame[3])
        // The header has eight bytes: two, then the payload's length in two, then a mask of four.
        #expect(frame.count - 8 == announcedBytes / 2)
        // A gateway accepts at most 16 KiB before the login.
        #expect(announcedBytes > 10_000 && announcedBytes < 16 << 10)
    }

    @Test func `the payload attacks send nearly the largest bodies and frames that a gateway accepts`() throws {
        // A connection's index selects what it sends. `numbers` has five numbers. `marks` has three calls, and over
        // HTTP also four heads, which follow the calls. So over HTTP index 7 sends the first call again.
        let attacks: [(PayloadAttack.Payload, index: Int)] = [
            (.numbers, 0), (.numbers, 1), (.numbers, 2), (.numbers, 3), (.numbers, 4),
            (.deep, 1), (.marks, 7), (.marks, 1), (.marks, 2),
        ]
        for (payload, index) in attacks {
            var client = Self.client(PayloadAttack(payload, over: .http), index: index)
            let request = try #require(Self.texts(client.opened()).first)
            let body = try #require(request.split(separator: "\r\n\r\n", maxSplits: 1).last)
            // A body may have at most 256 KiB.
            #expect((250_000...262_144).contains(body.utf8.count))
            #expect(request.contains("Content-Length: \(body.utf8.count)\r\n"))
            var webSocketClient = Self.client(PayloadAttack(payload, over: .webSocket), index: index)
            let message = try #require(Self.texts(webSocketClient.takeTurn()).first)
            #expect((55_000..<Self.maxFrameBytes).contains(message.utf8.count))
        }
        for index in 3..<7 {
            var client = Self.client(PayloadAttack(.marks, over: .http), index: index)
            let head = try #require(Self.texts(client.opened()).first)
            // A head may have at most 16 KiB.
            #expect((15_000...16_384).contains(head.utf8.count))
        }
    }

    @Test func `the numbers attack sends each kind of number, over HTTP with and without a token`() throws {
        let attack = PayloadAttack(.numbers, over: .http)
        var numbersWithToken: Set<String> = []
        var numbersWithoutToken: Set<String> = []
        for index in 0..<20 {
            var client = Self.client(attack, index: index)
            let request = try #require(Self.texts(client.opened()).first)
            let body = try #require(request.split(separator: "\r\n\r\n", maxSplits: 1).last)
            let list = try #require(body.split(separator: "[").last)
            let number = String(list.prefix { $0 != "," })
            #expect(list.hasSuffix(",\(number),1]}"))
            if request.contains("token-of-") {
                numbersWithToken.insert(number)
            } else {
                numbersWithoutToken.insert(number)
            }
        }
        #expect(numbersWithToken == Set(PayloadAttack.numbers))
        #expect(numbersWithoutToken == Set(PayloadAttack.numbers))
    }

    @Test func `the marks attack sends texts that a gateway rejects, and texts that it reads to their end`() throws {
        let attack = PayloadAttack(.marks, over: .webSocket)
        let longestRuns = try (0..<3).map { index in
            var client = Self.client(attack, index: index)
            let message = try #require(Self.texts(client.takeTurn()).first)
            // The marks of the attack are the only characters that are not ASCII.
            return message.unicodeScalars.split(whereSeparator: \.isASCII).map(\.count).max() ?? 0
        }
        #expect(longestRuns[0] > 29_000 && longestRuns[1] > 14_000)
        #expect(longestRuns[2] == 30, "a gateway accepts thirty marks in a row")
    }

    @Test func `answers are read correctly wherever the received bytes are split`() {
        let upgrade = Array("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n".utf8)
        // A frame with the text "hi", and a close frame with the code 4104, which is 0x1008.
        let frames: [UInt8] = [0x81, 2, 0x68, 0x69] + [0x88, 2, 0x10, 0x08]
        let bytes = upgrade + frames
        for cut in 0...bytes.count {
            var reader = AnswerReader()
            var (beginning, remainder) = (Array(bytes[..<cut]), Array(bytes[cut...]))
            var chunk = beginning.mutableSpan
            var answers = reader.read(&chunk)
            chunk = remainder.mutableSpan
            answers += reader.read(&chunk)
            #expect(answers == [.status(101), .text([0x68, 0x69]), .close(4104)], "cut at \(cut)")
        }
        var reader = AnswerReader()
        var rejection = Array("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}".utf8)
        var chunk = rejection.mutableSpan
        #expect(reader.read(&chunk) == [.status(429)])
    }
}
