// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit

extension MonotonicClock {
    /// The time now, for deadlines on threads without a loop.
    static var now: Timestamp { Timestamp(milliseconds: Self.milliseconds) }
}
