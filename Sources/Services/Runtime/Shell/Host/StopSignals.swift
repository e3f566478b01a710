// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Waits for SIGTERM or SIGINT on the main thread, without a signal handler.
final class StopSignals: Sendable {
    /// Blocks both signals for this thread and for all threads that it creates later; ignores SIGPIPE.
    init() {
        var set = Self.stopSignals
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Blocks until one of the signals is received.
    func wait() {
        var set = Self.stopSignals
        var signal: Int32 = 0
        while unsafe sigwait(&set, &signal) != 0 {}
    }

    /// Makes `wait` return as if a signal had been received.
    func raise() { kill(getpid(), SIGTERM) }

    private static var stopSignals: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        return set
    }
}
