// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Holds a thread back before a new try; the only place where one waits for nothing but time.
package enum PauseTimer {
    /// Waits on the calling thread, which must be one made for blocking calls.
    package static func wait(milliseconds: Int64) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    }
}
