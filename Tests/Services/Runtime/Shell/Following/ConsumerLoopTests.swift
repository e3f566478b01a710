// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import Observability
import ServiceShell
import Testing

/// Tests of the level at which `ConsumerLoop` logs an error of the broker.
///
/// A consumer loop reads topics into tables.
///
/// A transient error is expected while the loop starts, for instance because the broker starts at the same time.
@Suite struct ConsumerLoopTests {
    /// The log line for an error of this kind.
    private static func logLine(_ kind: KafkaError.Kind, isStarting: Bool) -> String {
        let lines = LogLines(level: .info)
        ConsumerLoop.logFailure(
            KafkaError(kind, "test error"), "the tables cannot be read now", isStarting: isStarting, in: lines.log)
        return lines.all.joined()
    }

    @Test(arguments: [KafkaError.Kind.retriable, .timedOut, .brokerDown, .unknownTopic])
    func `a transient error is logged as info while the loop starts, and as a warning later`(kind: KafkaError.Kind) {
        #expect(Self.logLine(kind, isStarting: true).contains(#""level":"info""#))
        #expect(Self.logLine(kind, isStarting: false).contains(#""level":"warning""#))
    }

    @Test(arguments: [KafkaError.Kind.fatal, .invalidConfiguration, .unsupported, .other])
    func `a permanent error is logged as an error, even while the loop starts`(kind: KafkaError.Kind) {
        for isStarting in [true, false] {
            #expect(Self.logLine(kind, isStarting: isStarting).contains(#""level":"error""#))
        }
    }
}
