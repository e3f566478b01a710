// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// The writer that buffers records and passes them to a sink in batches; `gap` is the minimum time between two batches.
///
/// The writer's loop, `run`, flushes the buffer when a batch is due. A record's token identifies the record.
@Suite(.timeLimit(.minutes(1))) struct BatchingWriterTests {
    /// A sink that collects the tokens of the written records, or rejects all records if `rejectsAll` is set.
    private final class Sink: RecordSink {
        let tokens = AsyncStream<UInt64>.makeStream()
        let rejectsAll = Locked(false)

        func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
            if self.rejectsAll.withLock({ $0 }) { throw .unavailable }
            self.tokens.continuation.yield(token)
        }

        /// Returns the tokens of all written records, after the writer has stopped.
        func allTokens() async -> [UInt64] {
            self.tokens.continuation.finish()
            return await self.tokens.stream.reduce(into: []) { $0.append($1) }
        }
    }

    private static let record = TopicRecord(.barrageInbox, key: "demo/live", value: [])

    @Test func `buffered records are flushed in order when they are due`() async throws {
        let sink = Sink()
        let writer = BatchingWriter(sink, recordLost: { token in Issue.record("record \(token) was lost") })
        let thread = DedicatedThread("test") { writer.run() }
        for token in 1...1000 { try writer.write(Self.record, token: UInt64(token)) }
        var expected: UInt64 = 1
        for await token in sink.tokens.stream {
            #expect(token == expected)
            if token == 1000 { break }
            expected += 1
        }
        writer.stop()
        await runOnDedicatedThread { #expect(thread.join(timeout: .seconds(10)), "the writer's loop ends") }
    }

    @Test func `stop flushes the buffered records, and records after the stop are written immediately`() async throws {
        let sink = Sink()
        // With a gap of an hour, no batch is due during the test.
        let writer = BatchingWriter(
            sink, gap: .seconds(3600), recordLost: { token in Issue.record("record \(token) was lost") })
        let thread = DedicatedThread("test") { writer.run() }
        for token in 1...3 { try writer.write(Self.record, token: UInt64(token)) }
        writer.stop()
        await runOnDedicatedThread { #expect(thread.join(timeout: .seconds(10))) }
        try writer.write(Self.record, token: 4)
        #expect(await sink.allTokens() == [1, 2, 3, 4])
    }

    @Test func `buffered records that the sink rejects are reported as lost, and no more than the limit are buffered`()
        async throws
    {
        let sink = Sink()
        let lostTokens = Locked<[UInt64]>([])
        // With a gap of an hour, no batch is due during the test.
        let writer = BatchingWriter(
            sink, gap: .seconds(3600), recordLost: { token in lostTokens.withLock { $0.append(token) } })
        let thread = DedicatedThread("test") { writer.run() }
        // The first record is written at once, the next ones wait for the batch.
        try writer.write(Self.record, token: 1)
        sink.rejectsAll.withLock { $0 = true }
        try writer.write(Self.record, token: 2)
        // One record is buffered already, and the loop below writes one record more than the buffer may hold.
        #expect(throws: SinkRejection.full, "a full buffer must reject a record") {
            for _ in 0...BatchingWriter.maxBufferedRecords { try writer.write(Self.record, token: 3) }
        }
        // The sink rejects the records that the stop flushes.
        writer.stop()
        await runOnDedicatedThread { #expect(thread.join(timeout: .seconds(10))) }
        #expect(
            lostTokens.withLock { $0.first == 2 && $0.count == BatchingWriter.maxBufferedRecords },
            "all records of the full buffer are lost, first record 2")
        #expect(throws: SinkRejection.unavailable) { try writer.write(Self.record, token: 4) }
        #expect(await sink.allTokens() == [1])
    }
}
