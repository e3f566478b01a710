// SPDX-License-Identifier: Apache-2.0

/// The time at which a timeout that covers several consecutive calls is over.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(after timeout: Duration) { self.end = ContinuousClock.now + timeout }

    var hasPassed: Bool { ContinuousClock.now >= self.end }

    /// The time that is left; zero once the deadline has passed.
    var remaining: Duration { max(ContinuousClock.now.duration(to: self.end), .zero) }
}
