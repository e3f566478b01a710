// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// How many connections the process's limit of open files allows.
package enum DescriptorLimit {
    /// The descriptors that are not for WebSockets: HTTP connections, Kafka, webhooks, threads, files.
    package static let reserve = 2_048
    /// The connections of a gateway without a setting, if there are descriptors for them.
    package static let defaultConnections = 100_000

    /// Why a gateway cannot have as many connections as asked for.
    package struct Shortage: Error, Equatable {
        /// What to do, as a sentence.
        package let remedy: String
    }

    /// Decides how many connections there can be.
    ///
    /// - Parameters:
    ///   - asked: The setting; nil takes what there is, up to `defaultConnections`.
    ///   - hard: The limit of open files up to which a process may raise its own.
    /// - Returns: The number of connections, at least 1.
    /// - Throws: `Shortage` if they do not fit.
    package static func connections(asked: Int?, hard: Int) throws(Shortage) -> Int {
        let possible = hard - self.reserve
        let connections = asked ?? min(self.defaultConnections, possible)
        guard connections >= 1, connections <= possible else {
            let needed = self.reserve + max(1, asked ?? 1)
            let less = asked != nil && possible >= 1 ? ", or give at most \(possible)" : ""
            throw Shortage(
                remedy: "needs \(needed) open files and the system allows \(hard): raise that (ulimit -Hn)\(less)")
        }
        return connections
    }

    /// The limit up to which this process may raise its own.
    package static var hard: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the limit of open files, so that this many connections fit.
    ///
    /// - Returns: false if the system refuses it.
    package static func raise(for connections: Int) -> Bool {
        var limit = rlimit()
        let needed = rlim_t(connections + self.reserve)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        if limit.rlim_cur >= needed { return true }
        limit.rlim_cur = min(needed, limit.rlim_max)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_cur >= needed
    }
}
