// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import MachineKit
import RedisClient
import TestSupport
import Testing

extension RedisCommand {
    /// Creates a command whose arguments need not be valid text.
    init(bytes arguments: [[UInt8]]) {
        self.init([])
        self.arguments = arguments
    }
}

/// A clock that a test sets.
final class TestClock {
    var nowMilliseconds: Int64 = 0
}

/// Tests of `RedisClient` with a real Redis: pipelines, scripts, lost connections, limits and logins.
@Suite(.enabled(if: RealRedis.isAvailable, "install redis-server"), .timeLimit(.minutes(1)))
struct RedisClientTests {
    /// A script that adds its argument to the number at its key, and returns the sum.
    static let addScript = RedisScript(
        name: "add", source: "return redis.call('INCRBY', KEYS[1], ARGV[1])")
    /// A script that always fails.
    static let failScript = RedisScript(name: "fail", source: "return redis.error_reply('STALE a later owner')")

    /// Makes a client that is not connected; its clock stands still unless the test sets `clock`.
    static func makeClient(
        _ port: Int, clock: TestClock = TestClock(), changeSettings: (inout RedisClient.Settings) -> Void = { _ in }
    ) -> RedisClient {
        var settings = RedisClient.Settings(host: "127.0.0.1", port: port)
        settings.timeout = .seconds(5)
        changeSettings(&settings)
        return RedisClient(
            settings, scripts: [Self.addScript, Self.failScript], random: SeededRandom(seed: 1),
            now: { MonotonicTime(milliseconds: clock.nowMilliseconds) })
    }

    @Test func `a pipeline returns each command's reply in order and continues after a failed command`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let client = Self.makeClient(redis.port)
            // The value contains a zero byte, a line end, a byte that is not UTF-8, and a `$`.
            let binaryValue: [UInt8] = [0, 13, 10, 255, 36]
            let replies = try client.pipeline([
                RedisCommand(bytes: [Array("SET".utf8), Array("k".utf8), binaryValue]), RedisCommand(["GET", "k"]),
                RedisCommand(["GET", "none"]), RedisCommand(["INCR", "k"]), RedisCommand(["INCR", "n"]),
                RedisCommand(["RPUSH", "l", "a", ""]), RedisCommand(["LRANGE", "l", "0", "-1"]),
                RedisCommand(["EVAL", "return {1,{'x',{}},false}", "0"]), RedisCommand(["NOSUCH"]),
            ])
            #expect(replies.count == 9)
            #expect(replies[0] == .status("OK") && replies[1] == .bytes(binaryValue) && replies[2] == .null)
            #expect(replies[4] == .integer(1) && replies[5] == .integer(2))
            #expect(replies[6] == .array([.bytes(Array("a".utf8)), .bytes([])]))
            #expect(replies[7] == .array([.integer(1), .array([.bytes(Array("x".utf8)), .array([])]), .null]))
            // These commands fail: INCR of a value that is not a number, and an unknown command.
            for index in [3, 8] {
                guard case .error(let text) = replies[index] else {
                    Issue.record("expected an error, got \(replies[index])")
                    continue
                }
                #expect(text.hasPrefix("ERR"))
            }

            // A large pipeline: each of its replies is at the index of its command.
            let echoes = try client.pipeline((0..<20_000).map { RedisCommand(["ECHO", "\($0)"]) })
            #expect(echoes.enumerated().allSatisfy { $0.element.text == "\($0.offset)" })
        }
    }

    @Test func `scripts that the server has lost, by a flush or a restart, are loaded again`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let client = Self.makeClient(redis.port)
            let calls = [
                RedisScriptCall(Self.addScript, keys: ["a"], arguments: ["5"]),
                RedisScriptCall(Self.failScript, keys: [], arguments: []),
                RedisScriptCall(Self.addScript, keys: ["a"], arguments: ["2"]),
            ]
            #expect(try client.run(calls) == [.integer(5), .error("STALE a later owner"), .integer(7)])

            _ = try client.pipeline([RedisCommand(["SCRIPT", "FLUSH"])])
            #expect(runError(client, calls) == .scriptsMissing, "the first run fails and loads the scripts")
            // To the 7 of the first run, 5 and 2 are added once more.
            #expect(try client.run(calls).last == .integer(14), "the scripts were loaded by the failed run")

            try redis.restart()
            let identity = try client.connect()
            #expect(try client.run(calls).first == .integer(5), "the data are gone, and the scripts were loaded again")
            #expect(identity.serial == 2, "this is the client's second connection")
        }
    }

    @Test func `I5 a restarted server has a new identity, and calls fail at once while the server is down`()
        async throws
    {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let clock = TestClock()
            let client = Self.makeClient(redis.port, clock: clock)
            let firstIdentity = try client.connect()
            #expect(try client.connect() == firstIdentity, "the client is connected already")
            redis.kill()
            guard case .unreachable = connectError(client) else {
                Issue.record("the client did not detect that its connection was closed")
                return
            }

            let error = pipelineError(client, [RedisCommand(["PING"])])
            #expect(error?.mayHaveRun == false, "the command was not sent")
            guard case .unreachable(let text) = error else {
                Issue.record("expected .unreachable, got \(String(describing: error))")
                return
            }
            // The client pauses between attempts to connect. The error says when the next attempt is due.
            #expect(text.contains("due"), "the client must not try to connect again at the same moment")

            try redis.restart()
            // The first pause lasts at most 50 ms, so it has ended after one second.
            clock.nowMilliseconds += 1_000
            let secondIdentity = try client.connect()
            #expect(secondIdentity.serial == 2, "this is the client's second connection")
            #expect(secondIdentity.runID != firstIdentity.runID)
            #expect(firstIdentity.runID.count == 40, "Redis gives 40 hexadecimal digits")
        }
    }

    @Test func `a pipeline whose connection is lost throws a typed error, and the next pipeline succeeds`()
        async throws
    {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let client = Self.makeClient(redis.port)
            try client.connect()
            try redis.restart()
            let error = pipelineError(client, [RedisCommand(["PING"])])
            guard case .disconnected = error else {
                Issue.record("expected .disconnected, got \(String(describing: error))")
                return
            }
            #expect(error?.mayHaveRun == true, "the command was sent, and its reply is missing")
            #expect(try client.pipeline([RedisCommand(["PING"])]) == [.status("PONG")])
        }
    }

    @Test func `I16 a pipeline to a paused server fails after one timeout`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let client = Self.makeClient(redis.port) { $0.timeout = .milliseconds(300) }
            try client.connect()
            redis.pause()
            var start = DispatchTime.now().uptimeNanoseconds
            // The signal pauses the server only after a moment, so it may still answer the first pipelines.
            var error: RedisError?
            while error == nil {
                start = DispatchTime.now().uptimeNanoseconds
                error = pipelineError(client, [Self.ping])
            }
            let milliseconds = (DispatchTime.now().uptimeNanoseconds - start) / 1_000_000
            #expect(error == .timedOut && error?.mayHaveRun == true)
            // One timeout takes 300 ms, on a busy machine a little more. Two timeouts would take 600 ms.
            #expect((300..<600).contains(milliseconds), "\(milliseconds) ms")
            redis.resume()
            #expect(
                try client.pipeline([Self.ping]) == [.status("PONG")],
                "late replies are not taken for replies to the next pipeline")
        }
    }

    @Test func `I16 a pipeline that exceeds a size limit, or whose reply does, throws a typed error`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            let client = Self.makeClient(redis.port) { settings in
                settings.maxPipelineCommands = 10
                settings.maxPipelineBytes = 2_000
                settings.maxReplyBytes = 100_000
            }
            // The first pipeline has one command more than its limit of 10. The second has one command, whose text
            // alone has 2,000 bytes, the limit of the whole pipeline.
            let errorOfManyCommands = pipelineError(client, [RedisCommand](repeating: Self.ping, count: 11))
            let errorOfManyBytes = pipelineError(
                client, [RedisCommand(["ECHO", String(repeating: "x", count: 2_000)])])
            for error in [errorOfManyCommands, errorOfManyBytes] {
                guard case .tooLarge = error else {
                    Issue.record("expected .tooLarge, got \(String(describing: error))")
                    continue
                }
            }

            let commandWithLongReply = RedisCommand(["EVAL", "return string.rep('x', 10000000)", "0"])
            let error = pipelineError(client, [commandWithLongReply])
            guard case .replyTooLarge(let bytes) = error else {
                Issue.record("expected .replyTooLarge, got \(String(describing: error))")
                return
            }
            // The client gave up soon after its limit of 100,000 bytes, long before the reply's end at 10,000,000.
            #expect(bytes > 100_000 && bytes < 300_000)
            #expect(try client.pipeline([Self.ping]) == [.status("PONG")])
        }
    }

    @Test func `the right password is accepted, and a missing or wrong one is rejected with the reason`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis(arguments: ["--requirepass", "open sesame"])
            #expect(rejectionText(redis.port, password: "open sesame") == nil, "the right password is not rejected")
            #expect(rejectionText(redis.port, password: nil)?.hasPrefix("NOAUTH") == true)
            #expect(rejectionText(redis.port, password: "wrong")?.hasPrefix("WRONGPASS") == true)
        }
    }

    @Test func `a user of the access control list is accepted, and a rejected client waits before it tries again`()
        async throws
    {
        try await runOnDedicatedThread {
            let redis = try RealRedis(arguments: [
                "--user", "default", "off", "--user", "alice", "on", ">open-sesame", "~*", "+@all",
            ])
            var settings = RedisClient.Settings(host: "127.0.0.1", port: redis.port)
            settings.user = "alice"
            settings.password = Secret("open-sesame")
            let client = RedisClient(settings, random: SeededRandom(seed: 5), now: { MonotonicTime(milliseconds: 0) })
            #expect(connectError(client) == nil)
            #expect(try client.pipeline([RedisCommand(["ACL", "WHOAMI"])]) == [.bytes(Array("alice".utf8))])

            settings.password = Secret("wrong")
            let rejectedClient = RedisClient(
                settings, random: SeededRandom(seed: 5), now: { MonotonicTime(milliseconds: 0) })
            guard case .accessDenied(let text)? = connectError(rejectedClient) else {
                Issue.record("the wrong password was accepted")
                return
            }
            #expect(text.hasPrefix("WRONGPASS") && !text.contains("wrong"), "the text must not have the password")
            guard case .unreachable(let pauseText)? = connectError(rejectedClient) else {
                Issue.record("the rejected password was tried again at once")
                return
            }
            #expect(pauseText.contains("due"), "the error says when the next attempt is due")
            #expect(!"\(settings)".contains("wrong"), "the text of the settings must not have the password")
        }
    }

    @Test func `a server that is killed and restarted has the same port and no data`() async throws {
        try await runOnDedicatedThread {
            let redis = try RealRedis()
            #expect(try Self.makeClient(redis.port).pipeline([Self.ping]) == [.status("PONG")])
            redis.kill()
            #expect(connectError(Self.makeClient(redis.port)) != nil)
            try redis.restart()
            #expect(try Self.makeClient(redis.port).pipeline([RedisCommand(["DBSIZE"])]) == [.integer(0)])
        }
    }

    static let ping = RedisCommand(["PING"])
}

/// The error with which a client fails to connect; nil if it connects.
private func connectError(_ client: RedisClient) -> RedisError? {
    do throws(RedisError) {
        try client.connect()
        return nil
    } catch { return error }
}

/// The text of the error with which a client fails to connect; nil if the server accepts the client.
private func rejectionText(_ port: Int, password: String?) -> String? {
    var settings = RedisClient.Settings(host: "127.0.0.1", port: port)
    settings.password = password.map { Secret($0) }
    let error = connectError(
        RedisClient(settings, random: SeededRandom(seed: 5), now: { MonotonicTime(milliseconds: 0) }))
    guard case .accessDenied(let text) = error else { return error.map { "\($0)" } }
    return text
}

/// The error with which a pipeline fails; nil if it succeeds.
private func pipelineError(_ client: RedisClient, _ commands: [RedisCommand]) -> RedisError? {
    do throws(RedisError) {
        _ = try client.pipeline(commands)
        return nil
    } catch { return error }
}

/// The error with which a run of scripts fails; nil if it succeeds.
private func runError(_ client: RedisClient, _ calls: [RedisScriptCall]) -> RedisError? {
    do throws(RedisError) {
        _ = try client.run(calls)
        return nil
    } catch { return error }
}

/// Tests of `RedisClient` with servers that are unreachable, still load their data, or violate the protocol of Redis.
@Suite(.timeLimit(.minutes(1))) struct OddServerTests {
    /// A client whose clock stands still.
    static func makeClient(_ port: Int, timeoutMilliseconds: Int = 5_000) -> RedisClient {
        var settings = RedisClient.Settings(host: "127.0.0.1", port: port)
        settings.timeout = .milliseconds(timeoutMilliseconds)
        settings.maxReplyBytes = 200_000
        return RedisClient(settings, random: SeededRandom(seed: 2), now: { MonotonicTime(milliseconds: 0) })
    }

    @Test func `a closed port is unreachable, and the client pauses before its next attempt`() async throws {
        try await runOnDedicatedThread {
            let port = try FreePort.find()
            var now: Int64 = 0
            let settings = RedisClient.Settings(host: "127.0.0.1", port: port)
            let client = RedisClient(settings, random: SeededRandom(seed: 3), now: { MonotonicTime(milliseconds: now) })
            /// Tries to connect, and returns why the server is unreachable; empty if the attempt ends in another way.
            func connectAndFail() -> String {
                let error = connectError(client)
                guard case .unreachable(let text) = error else { return "" }
                return text
            }
            #expect(connectAndFail().contains("refused"), "the client tries to connect")
            #expect(connectAndFail().contains("due"), "the client does not try again during the pause")
            // The first pause lasts a random time of at most 50 ms, so it may be over or not. In both cases the server
            // is unreachable.
            now = 49
            #expect(!connectAndFail().isEmpty)
            now = 1_000
            #expect(connectAndFail().contains("refused"), "the pause is over, so the client tries to connect")
        }
    }

    @Test func `an unknown host is unreachable`() async throws {
        await runOnDedicatedThread {
            let settings = RedisClient.Settings(host: "no-such-host.invalid", port: 1)
            let client = RedisClient(settings, random: SeededRandom(seed: 4), now: { MonotonicTime(milliseconds: 0) })
            let error = connectError(client)
            #expect(error?.mayHaveRun == false, "no command was sent")
        }
    }

    @Test func `connecting to a server that still loads its data throws a typed error`() async throws {
        await runOnDedicatedThread {
            let server = FakeRedis(replies: [Array("-LOADING Redis is loading the dataset in memory\r\n".utf8)])
            let client = Self.makeClient(server.port)
            #expect(connectError(client) == .loading)
        }
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n", "$-7x\r\n", "*3\r\n!", "*-5\r\n", "$99999999999999999999\r\n"])
    func `a pipeline whose reply violates the protocol throws a typed error`(text: String) async throws {
        await runOnDedicatedThread {
            let server = FakeRedis(replies: [FakeRedis.handshakeReply, Array(text.utf8)])
            let client = Self.makeClient(server.port, timeoutMilliseconds: 1_000)
            let error = pipelineError(client, [RedisClientTests.ping])
            switch error {
            case .protocolViolation, .timedOut: break
            default: Issue.record("expected .protocolViolation or .timedOut, got \(String(describing: error))")
            }
        }
    }

    @Test func `I16 a pipeline whose reply never ends fails after its timeout`() async throws {
        await runOnDedicatedThread {
            // The reply announces two elements and has one.
            let server = FakeRedis(replies: [FakeRedis.handshakeReply, Array("*2\r\n$4\r\nslow\r\n".utf8)])
            let client = Self.makeClient(server.port, timeoutMilliseconds: 200)
            let error = pipelineError(client, [RedisClientTests.ping])
            #expect(error == .timedOut)
        }
    }

    @Test func `I16 the size limit of a reply covers all its elements together`() async throws {
        await runOnDedicatedThread {
            // Each element has one byte of content and takes 7 bytes in the reply, 700,000 in all. The client allows
            // 200,000.
            let list = "*100000\r\n" + String(repeating: "$1\r\nx\r\n", count: 100_000)
            let server = FakeRedis(replies: [FakeRedis.handshakeReply, Array(list.utf8)])
            let client = Self.makeClient(server.port)
            let error = pipelineError(client, [RedisClientTests.ping])
            guard case .replyTooLarge = error else {
                Issue.record("expected .replyTooLarge, got \(String(describing: error))")
                return
            }
        }
    }
}
