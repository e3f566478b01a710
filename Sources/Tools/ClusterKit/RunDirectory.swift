// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation

/// The paths of a cluster's files, and the lock that prevents a second cluster in the same directory.
package struct RunDirectory: Sendable {
    /// The absolute path of the directory.
    package let path: String

    /// Makes a value from an absolute or relative path, without accessing the file system.
    package init(_ path: String) {
        let current = FileManager.default.currentDirectoryPath
        self.path = URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: current)).standardizedFileURL.path
    }

    /// The file with the cluster's state.
    package var stateFile: String { self.path + "/state.json" }
    /// The file with the apps' keys and policies, readable by the owner only.
    package var appsFile: String { self.path + "/apps.json" }
    /// The file with the gateways' session key, readable by the owner only.
    package var sessionKeyFile: String { self.path + "/session.key" }
    /// The file into which the embedded broker writes its address.
    package var brokerAddressFile: String { self.path + "/broker.address" }
    /// The directory with the configuration and data of a real Kafka.
    package var kafkaDirectory: String { self.path + "/kafka" }
    /// The output of the process `name`.
    package func logFile(of name: String) -> String { self.path + "/" + name + ".log" }

    private var lockFile: String { self.path + "/plaza.lock" }

    /// Creates the directory, accessible to the owner only, if it is missing.
    ///
    /// - Throws: `file` when the directory cannot be created.
    package func create() throws(ClusterError) {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .file(path: self.path, reason: "cannot be made: \(error.localizedDescription)")
        }
    }

    /// Whether a running process holds the lock.
    ///
    /// The kernel releases the lock when that process ends, even if it is killed.
    package var isLocked: Bool {
        guard let lock = FileLock(path: self.lockFile, create: false) else { return false }
        // If the lock is acquired here, it is released again at once, when `lock` goes out of scope.
        return !lock.tryAcquire()
    }

    /// Locks the directory for this process until the returned lock is released.
    ///
    /// - Throws: `alreadyRunning` when another process holds the lock, `file` when the lock file cannot be opened.
    func lock() throws(ClusterError) -> FileLock {
        guard let lock = FileLock(path: self.lockFile, create: true) else {
            throw .file(path: self.lockFile, reason: "cannot be opened")
        }
        // `isLocked` of another process, such as `plaza status --wait`, holds the lock for a moment.
        var isAcquired = lock.tryAcquire()
        for _ in 0..<10 where !isAcquired {
            DedicatedThread.sleep(for: .milliseconds(20))
            isAcquired = lock.tryAcquire()
        }
        guard isAcquired else {
            let pid = FileManager.default.contents(atPath: self.stateFile)
                .flatMap { try? JSONDecoder().decode(ClusterState.self, from: $0) }?.supervisor
            throw .alreadyRunning(runDirectory: self.path, pid: pid)
        }
        return lock
    }

    /// Writes a file atomically; no other process can open it before it has the permissions `mode`.
    static func write(_ data: Data, to path: String, mode: Int) throws(ClusterError) {
        let temporary = path + ".new"
        guard SystemFile.write(data, to: temporary, mode: mode), SystemFile.rename(temporary, to: path) else {
            throw .file(path: path, reason: "cannot be written")
        }
    }

    /// The last `count` lines of a log, at most 2 KB, for error messages.
    package static func lastLines(of log: String, count: Int = 8) -> String {
        guard let file = FileHandle(forReadingAtPath: log) else { return "" }
        defer { try? file.close() }
        let end = (try? file.seekToEnd()) ?? 0
        try? file.seek(toOffset: end > 2048 ? end - 2048 : 0)
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map { "    " + $0 }.joined(separator: "\n")
    }
}
