// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import Synchronization

/// The descriptor to which the signal handler writes.
///
/// It is a global atomic, because a signal handler may use only atomics and async-signal-safe calls such as `write`.
private let handlerDescriptor = Atomic<Int32>(-1)

/// The requests to stop a subcommand: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed), or a failed start.
///
/// `sigwait` does not work here, because Swift's main queue owns the main thread and unblocks all signals there.
/// Therefore a signal handler writes a byte into a pipe, and a thread reads the byte.
final class InterruptSignals: Sendable {
    /// Why the subcommand must stop.
    enum Reason: Sendable {
        /// A signal was received.
        case signal
        /// The start failed.
        case failure
    }

    private let reasons: AsyncStream<Reason>
    private let continuation: AsyncStream<Reason>.Continuation
    private let stopFlag = Atomic(false)

    /// Installs the handlers, which replace the default action of the signals.
    init() {
        (self.reasons, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(8))
        let pipe = Pipe()
        handlerDescriptor.store(pipe.fileHandleForWriting.fileDescriptor, ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, forwardSignal) }
        _ = DedicatedThread("plaza-signals") { [weak self, pipe] in
            while let bytes = try? pipe.fileHandleForReading.read(upToCount: 1), !bytes.isEmpty {
                self?.requestStop(.signal)
            }
        }
    }

    /// Whether a stop has been requested.
    var isStopRequested: Bool { self.stopFlag.load(ordering: .acquiring) }

    /// Requests a stop.
    func requestStop(_ reason: Reason) {
        self.stopFlag.store(true, ordering: .releasing)
        self.continuation.yield(reason)
    }

    /// Waits for the next request to stop and returns its reason; nil when the task is cancelled.
    func nextReason() async -> Reason? {
        for await reason in self.reasons { return reason }
        return nil
    }
}

/// The signal handler, which writes a byte into the pipe.
///
/// The handler may interrupt any thread between two instructions, so it restores `errno`.
private func forwardSignal(_ number: Int32) {
    let savedErrno = errno
    var byte = UInt8(truncatingIfNeeded: number)
    unsafe write(handlerDescriptor.load(ordering: .acquiring), &byte, 1)
    errno = savedErrno
}
