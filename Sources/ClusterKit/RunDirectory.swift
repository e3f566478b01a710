// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The paths of one cluster's files, and the lock that keeps a second cluster out of them.
package struct RunDirectory: Sendable {
    /// Absolute.
    package let path: String

    /// Takes a path that is absolute or relative to the current directory; touches nothing.
    package init(_ path: String) {
        let current = FileManager.default.currentDirectoryPath
        self.path = URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: current)).standardizedFileURL.path
    }

    /// What runs here.
    package var stateFile: String { self.path + "/state.json" }
    /// The apps' keys and policies, for the owner alone.
    package var appsFile: String { self.path + "/apps.json" }
    /// Where the embedded broker says its address.
    package var brokerAddressFile: String { self.path + "/broker.address" }
    /// Configuration and data of a real Kafka.
    package var kafkaDirectory: String { self.path + "/kafka" }
    /// The output of the process `name`.
    package func logFile(of name: String) -> String { self.path + "/" + name + ".log" }

    private var lockFile: String { self.path + "/plaza.lock" }

    /// Makes the directory, for the owner alone, when it is missing.
    package func create() throws(ClusterError) {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .file(path: self.path, reason: "cannot be made: \(error.localizedDescription)")
        }
    }

    /// Whether a living process holds the lock: the kernel lets go of it when that process ends, however it does.
    package var isLocked: Bool {
        guard let lock = FileLock(path: self.lockFile, create: false) else { return false }
        return !lock.take()
    }

    /// Takes the directory for this process until the lock is freed.
    ///
    /// - Throws: `alreadyRunning` when another holds it.
    func lock() throws(ClusterError) -> FileLock {
        guard let lock = FileLock(path: self.lockFile, create: true) else {
            throw .file(path: self.lockFile, reason: "cannot be opened")
        }
        guard lock.take() else {
            let pid = FileManager.default.contents(atPath: self.stateFile)
                .flatMap { try? JSONDecoder().decode(ClusterState.self, from: $0) }?.supervisor
            throw .alreadyRunning(runDirectory: self.path, pid: pid)
        }
        return lock
    }

    /// Writes a file whole or not at all, with the given permissions from its first byte on.
    static func write(_ data: Data, to path: String, mode: Int) throws(ClusterError) {
        let temporary = path + ".new"
        guard SystemFile.write(data, to: temporary, mode: mode), SystemFile.rename(temporary, to: path) else {
            throw .file(path: path, reason: "cannot be written")
        }
    }

    /// The last lines of a log, at most 2 KB, for error messages.
    package static func lastLines(of log: String, count: Int = 8) -> String {
        guard let file = FileHandle(forReadingAtPath: log) else { return "" }
        defer { try? file.close() }
        let end = (try? file.seekToEnd()) ?? 0
        try? file.seek(toOffset: end > 2048 ? end - 2048 : 0)
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map { "    " + $0 }.joined(separator: "\n")
    }
}
