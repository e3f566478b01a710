// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import PlazaModel
import PlazaWire
import ServiceShell
import TestSupport
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(1))) struct GatheredWriterTests {
    /// What was handed on, or a refusal.
    private final class Sink: RecordSink {
        let tokens = AsyncStream<UInt64>.makeStream()
        let refuses = Locked(false)

        func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
            if self.refuses.withLock({ $0 }) { throw .unavailable }
            self.tokens.continuation.yield(token)
        }

        /// All that was handed on, when no more comes.
        func all() async -> [UInt64] {
            self.tokens.continuation.finish()
            return await self.tokens.stream.reduce(into: []) { $0.append($1) }
        }
    }

    private static let record = TopicRecord(.barrageInbox, key: "demo/live", value: [])

    @Test func `what waits is handed on when its time has come, in order`() async throws {
        let sink = Sink()
        let writer = GatheredWriter(sink, lost: { _ in Issue.record("lost") })
        let thread = ShellThread { writer.run() }
        for token in 1...1000 { try writer.write(Self.record, token: UInt64(token)) }
        var expected: UInt64 = 1
        for await token in sink.tokens.stream {
            #expect(token == expected)
            if token == 1000 { break }
            expected += 1
        }
        writer.stop()
        try await onOwnThread { #expect(thread.join(seconds: 10)) }
    }

    @Test func `what waits at the end is handed on then, and nothing waits afterwards`() async throws {
        let sink = Sink()
        let writer = GatheredWriter(sink, gap: .seconds(3600), lost: { _ in Issue.record("lost") })
        let thread = ShellThread { writer.run() }
        for token in 1...3 { try writer.write(Self.record, token: UInt64(token)) }
        writer.stop()
        try await onOwnThread { #expect(thread.join(seconds: 10)) }
        try writer.write(Self.record, token: 4)
        #expect(await sink.all() == [1, 2, 3, 4])
    }

    @Test func `a record that waited and cannot be handed on is told as lost`() async throws {
        let sink = Sink()
        let lost = Locked<[UInt64]>([])
        let writer = GatheredWriter(sink, gap: .seconds(3600), lost: { token in lost.withLock { $0.append(token) } })
        let thread = ShellThread { writer.run() }
        try writer.write(Self.record, token: 1)
        sink.refuses.withLock { $0 = true }
        try writer.write(Self.record, token: 2)
        #expect(throws: SinkRefusal.full, "the limit is that of what may wait") {
            for _ in 0...GatheredWriter.limit { try writer.write(Self.record, token: 3) }
        }
        writer.stop()
        try await onOwnThread { #expect(thread.join(seconds: 10)) }
        #expect(lost.withLock { $0.first } == 2 && lost.withLock { $0.count } == GatheredWriter.limit)
        #expect(throws: SinkRefusal.unavailable) { try writer.write(Self.record, token: 4) }
        #expect(await sink.all() == [1])
    }
}
