// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The number of connections that the process's limit of open files allows.
package enum DescriptorLimit {
    /// The descriptors reserved for everything but WebSockets: HTTP connections, Kafka, webhooks, threads, files.
    package static let reserve = 2_048
    /// The number of connections if the setting is missing and the limit of open files allows so many.
    package static let defaultConnections = 100_000

    /// The limit of open files is too low for the requested connections.
    package struct Shortage: Error, Equatable {
        /// The remedy, as a sentence.
        package let remedy: String
    }

    /// Decides the maximum number of connections.
    ///
    /// - Parameters:
    ///   - requested: The setting; nil for as many as the limit allows, up to `defaultConnections`.
    ///   - hardLimit: The hard limit of open files, up to which a process may raise its own limit.
    /// - Returns: The number of connections, at least 1.
    /// - Throws: `Shortage` if the limit is too low.
    package static func connections(requested: Int?, hardLimit: Int) throws(Shortage) -> Int {
        let available = hardLimit - self.reserve
        let connections = requested ?? min(self.defaultConnections, available)
        guard connections >= 1, connections <= available else {
            let required = self.reserve + max(1, requested ?? 1)
            let alternative = requested != nil && available >= 1 ? ", or give at most \(available)" : ""
            throw Shortage(
                remedy:
                    "needs \(required) open files and the system allows \(hardLimit): raise that (ulimit -Hn)"
                    + alternative)
        }
        return connections
    }

    /// The limit up to which this process may raise its own limit of open files; 0 if it is unknown.
    package static var hardLimit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the process's limit of open files, so that it allows this number of connections.
    ///
    /// - Returns: False if the system refuses the change, or if the hard limit is too low.
    package static func raise(for connections: Int) -> Bool {
        var limit = rlimit()
        let required = rlim_t(connections + self.reserve)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        if limit.rlim_cur >= required { return true }
        limit.rlim_cur = min(required, limit.rlim_max)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_cur >= required
    }
}
