// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The process's limit on open descriptors; each client needs one.
enum OpenFiles {
    /// Raises the limit as far as the system allows.
    ///
    /// - Returns: the limit that is now in force; nil if it cannot be read.
    @discardableResult
    static func raise() -> Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        let oldLimit = Int(clamping: limit.rlim_cur)
        limit.rlim_cur = limit.rlim_max
        let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return isRaised ? Int(clamping: limit.rlim_cur) : oldLimit
    }
}
