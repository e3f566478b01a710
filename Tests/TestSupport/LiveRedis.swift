// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation

/// A real Redis on this machine for tests, without persistence: killing it loses its data.
///
/// It always ends with the process that started it: a shell reads from a pipe of that process and kills the server when
/// the pipe closes.
package final class LiveRedis: Sendable {
    /// The port on 127.0.0.1; a restart keeps it.
    package let port: Int

    private let arguments: [String]
    private let run = Locked<WatchedShell?>(nil)

    /// The path of the server, or nil if it is not installed.
    package static let path: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { $0 + "/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// True if tests on a real Redis can run; as `.enabled(if: LiveRedis.isAvailable, "install redis-server")`.
    package static var isAvailable: Bool { Self.path != nil }

    /// Starts a server; blocks until it accepts connections.
    ///
    /// - Parameter arguments: for `redis-server`, such as `--requirepass x`.
    /// - Throws: if it is not installed or is not ready within 20 s.
    package init(arguments: [String] = []) throws {
        self.port = try FreePort.find()
        self.arguments = arguments
        try self.start()
    }

    deinit { self.kill() }

    /// Kills it with SIGKILL; its data are lost.
    ///
    /// Blocks until it has ended.
    package func kill() {
        let shell = self.run.withLock { shell in
            defer { shell = nil }
            return shell
        }
        shell?.end()
    }

    /// Starts it again on the same port, without data; blocks until it accepts connections.
    package func restart() throws {
        self.kill()
        try self.start()
    }

    /// Stops it with SIGSTOP: connections stay open, but nothing is answered.
    ///
    /// The stop takes effect after a moment, not at once.
    package func pause() { self.run.withLock { $0 }?.write("STOP") }

    /// Continues after `pause`.
    package func resume() { self.run.withLock { $0 }?.write("CONT") }

    private func start() throws {
        guard let path = Self.path else { throw LiveRedisError(description: "Redis is not installed.") }
        let notification = try ReadyNotification()
        let shell = try WatchedShell(
            Self.script,
            arguments: [
                path, "--port", "\(self.port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                notification.directory, "--supervised", "systemd",
            ] + self.arguments,
            environment: ["NOTIFY_SOCKET": notification.path])
        self.run.withLock { $0 = shell }
        guard notification.wait(milliseconds: 20_000) else {
            self.kill()
            throw LiveRedisError(description: "Redis was not ready within 20 s on port \(self.port).")
        }
    }

    /// Each input line is a signal to send to the server; at the end of the input the server is killed.
    ///
    /// When the parent dies while the server is stopped, the kernel sends SIGHUP to the orphaned process group; the
    /// shell ignores it.
    private static let script = """
        trap '' HUP
        "$@" </dev/null >/dev/null 2>&1 &
        server=$!
        while read -r signal; do kill -"$signal" $server; done
        kill -KILL $server; wait $server
        """
}

/// Why there is no Redis.
package struct LiveRedisError: Error, CustomStringConvertible {
    /// A sentence.
    package let description: String
}
