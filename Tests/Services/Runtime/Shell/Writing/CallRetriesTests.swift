// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import Testing

@testable import ServiceShell

/// Tests of `CallRetries`, which decides whether a failed call of a Kafka producer is repeated, and after which pause.
@Suite struct CallRetriesTests {
    private static let start = MonotonicTime(milliseconds: 5_000)
    private static let retriable = KafkaError(.retriable, "The coordinator is loading.", isRetriable: true)

    @Test func `I16 a call is never repeated without a pause, and the pauses grow until the deadline`() {
        var retries = CallRetries(until: Self.start + Milliseconds(400))
        var now = Self.start
        var pauses: [Milliseconds] = []
        // Each attempt fails at once, so that only the pauses take time.
        while let pause = retries.pause(after: Self.retriable, at: now), pauses.count < 100 {
            pauses.append(pause)
            now = now + pause
        }
        // Pauses double from 20 ms up to 100 ms. The last one is only 60 ms, because the last attempt is at the
        // deadline after 400 ms: 20 + 40 + 80 + 100 + 100 + 60 = 400.
        #expect(pauses == [20, 40, 80, 100, 100, 60].map { Milliseconds($0) })
        #expect(now == Self.start + Milliseconds(400))
    }

    @Test func `a call with an error that a repetition cannot correct is not repeated`() {
        let errors = [
            KafkaError(.accessDenied, "The user may not write."),
            KafkaError(.abortRequired, "The transaction must be aborted.", isRetriable: true, requiresAbort: true),
            KafkaError(.fatal, "The client is unusable.", isFatal: true, isRetriable: true),
        ]
        for error in errors {
            var retries = CallRetries(until: Self.start + .seconds(10))
            #expect(retries.pause(after: error, at: Self.start) == nil, "\(error)")
        }
        var retries = CallRetries(until: Self.start + .seconds(10))
        let timedOut = KafkaError(.timedOut, "No answer.")
        #expect(retries.pause(after: timedOut, at: Self.start) != nil, "the outcome is asked for again")
    }
}
