// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Chooses which traces are recorded, and stores their spans until they are sent.
///
/// May be used from any thread. Callers check `isOn` first. While `isOn` is false they do nothing else: they generate
/// no id, read no clock and allocate nothing.
package final class Tracer: Sendable {
    /// A tracer that records nothing.
    package static let off = Tracer(isOn: false, share: 0, capacity: 0) { 0 }

    /// The default maximum number of spans that wait to be sent; enough while a collector is slow for some seconds.
    package static let defaultCapacity = 8192
    /// The maximum number of spans in one request; as soon as this many spans wait, they are sent.
    package static let batchSize = 512

    /// Whether spans are recorded.
    package let isOn: Bool
    /// A trace is recorded if its random number is below this number; nil records all traces.
    private let threshold: UInt64?
    private let clock: @Sendable () -> Int64
    private let buffer: Locked<SpanBuffer>
    private let batchReady = WakeSignal()

    /// Creates a tracer that records spans.
    ///
    /// - Parameters:
    ///   - share: the share of calls for which a trace is begun, 0 to 1; a call that already has a trace does not
    ///     count.
    ///   - capacity: the maximum number of spans that wait to be sent.
    ///   - clock: returns nanoseconds since 1970.
    package convenience init(
        share: Double, capacity: Int = Tracer.defaultCapacity,
        clock: @escaping @Sendable () -> Int64 = { WallClock.nanoseconds() }
    ) {
        self.init(isOn: true, share: share, capacity: capacity, clock: clock)
    }

    private init(isOn: Bool, share: Double, capacity: Int, clock: @escaping @Sendable () -> Int64) {
        self.isOn = isOn
        // A share below 1, times 2^64, always fits.
        self.threshold = share >= 1 ? nil : UInt64(max(0, share) * 0x1p64)
        self.clock = clock
        self.buffer = Locked(SpanBuffer(capacity: capacity))
    }

    /// The time for a span: nanoseconds since 1970.
    package var now: Int64 { self.clock() }

    /// Begins a trace for a call that has none.
    ///
    /// - Returns: the context of its first span; nil if the call is not in the sample.
    package func startTrace() -> TraceContext? {
        guard self.isOn else { return nil }
        var random = SystemRandomNumberGenerator()
        if let threshold, random.next() >= threshold { return nil }
        return TraceContext(isSampled: true, using: &random)
    }

    /// The context of a new span below another.
    package func child(of parent: TraceContext) -> TraceContext {
        var random = SystemRandomNumberGenerator()
        return parent.child(using: &random)
    }

    /// Parses the context in a header; nil if its trace is not recorded, or the header is missing or malformed.
    package func sampledContext(from header: [UInt8]?) -> TraceContext? {
        guard self.isOn, let header, let context = TraceContext(parsing: header), context.isSampled else { return nil }
        return context
    }

    /// Stores a finished span; does not wait for the collector.
    package func record(_ span: TraceSpan) {
        let count = self.buffer.withLock { buffer in
            buffer.append(span)
            return buffer.count
        }
        if count >= Self.batchSize { self.batchReady.wakeUp() }
    }

    /// Waits until a batch is full, for at most `timeout`.
    package func waitForBatch(timeout: Duration) { _ = self.batchReady.wait(timeout: timeout) }

    /// Ends a wait for a batch.
    package func wakeUp() { self.batchReady.wakeUp() }

    /// Removes and returns the oldest spans, at most `batchSize`.
    package func takeBatch() -> [TraceSpan] { self.buffer.withLock { $0.take(max: Self.batchSize) } }

    /// Returns the number of spans that were dropped since the last call.
    package func takeDroppedCount() -> Int { self.buffer.withLock { $0.takeDroppedCount() } }
}
