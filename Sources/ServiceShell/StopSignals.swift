// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Waits for SIGTERM or SIGINT on the main thread; no handler runs in the middle of anything.
final class StopSignals: Sendable {
    /// Blocks the signals for this thread and all that it makes later.
    init() {
        var set = Self.set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Returns when one of them has come.
    func wait() {
        var set = Self.set
        var signal: Int32 = 0
        while unsafe sigwait(&set, &signal) != 0 {}
    }

    /// Makes `wait` return as if a signal had come.
    func raise() { kill(getpid(), SIGTERM) }

    private static var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        return set
    }
}
