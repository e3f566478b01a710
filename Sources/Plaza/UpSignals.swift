// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Where the signal handler writes; a handler may touch no more than an atomic and a descriptor.
private let handlerDescriptor = Atomic<Int32>(-1)

/// What ends `plaza up`: SIGINT (Ctrl-C), SIGTERM, SIGHUP (its terminal went away), or a failed start.
///
/// The main thread belongs to Swift's main queue, which unblocks all signals there, so they cannot be waited for with
/// `sigwait`: a handler writes a byte into a pipe, from which a thread of ours reads.
final class StopSignals: Sendable {
    /// Why to stop.
    enum Reason: Sendable {
        case signal
        case failure
    }

    private let reasons: AsyncStream<Reason>
    private let continuation: AsyncStream<Reason>.Continuation
    private let isStopping = Atomic(false)

    /// Takes the signals from now on; their usual effect is gone.
    init() {
        (self.reasons, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(8))
        let pipe = Pipe()
        handlerDescriptor.store(pipe.fileHandleForWriting.fileDescriptor, ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, noteSignal) }
        let thread = Thread { [weak self, pipe] in
            while let bytes = try? pipe.fileHandleForReading.read(upToCount: 1), !bytes.isEmpty {
                self?.raise(.signal)
            }
        }
        thread.name = "plaza-signals"
        thread.start()
    }

    /// Whether there was a reason to stop.
    var hasArrived: Bool { self.isStopping.load(ordering: .acquiring) }

    /// Asks to stop.
    func raise(_ reason: Reason) {
        self.isStopping.store(true, ordering: .releasing)
        self.continuation.yield(reason)
    }

    /// Waits for the next reason; nil when the task is cancelled.
    func next() async -> Reason? {
        for await reason in self.reasons { return reason }
        return nil
    }
}

/// Called on whichever thread the kernel chose, between any two instructions of it: it leaves nothing changed.
private func noteSignal(_ number: Int32) {
    let code = errno
    var byte = UInt8(truncatingIfNeeded: number)
    unsafe write(handlerDescriptor.load(ordering: .acquiring), &byte, 1)
    errno = code
}
