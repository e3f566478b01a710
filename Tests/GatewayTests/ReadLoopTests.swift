// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import Testing

@testable import Gateway

@Suite struct ReadLoopTests {
    private static func line(_ kind: KafkaError.Kind, isStarting: Bool) -> String {
        let lines = Locked<[String]>([])
        let log = Log(
            service: "gateway", level: .info,
            sink: { line in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            })
        ReadLoop.tell(KafkaError(kind, "so it is"), "the tables cannot be read now", isStarting: isStarting, in: log)
        return lines.withLock { $0.joined() }
    }

    @Test(arguments: [KafkaError.Kind.retriable, .timedOut, .brokerDown, .unknownTopic])
    func `what passes by itself is normal at a start, and a warning later`(kind: KafkaError.Kind) {
        #expect(Self.line(kind, isStarting: true).contains(#""level":"info""#))
        #expect(Self.line(kind, isStarting: false).contains(#""level":"warning""#))
    }

    @Test(arguments: [KafkaError.Kind.fatal, .invalidConfiguration, .unsupported, .other])
    func `what does not pass by itself is an error, also at a start`(kind: KafkaError.Kind) {
        for isStarting in [true, false] {
            #expect(Self.line(kind, isStarting: isStarting).contains(#""level":"error""#))
        }
    }
}
