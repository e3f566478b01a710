// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation

/// A real Redis on this machine for tests, without persistence: killing it loses its data.
///
/// The server always ends with the process that started it: a shell reads from a pipe of that process, and kills the
/// server when the pipe closes.
package final class RealRedis: Sendable {
    /// The port on 127.0.0.1; a restart keeps it.
    package let port: Int

    private let arguments: [String]
    private let shell = Locked<WatchedShell?>(nil)

    /// The path of the server, or nil if it is not installed.
    package static let path: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { $0 + "/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether tests on a real Redis can run; tests use it in `.enabled(if: RealRedis.isAvailable, "install
    /// redis-server")`.
    package static var isAvailable: Bool { Self.path != nil }

    /// Starts a server; blocks until it accepts connections.
    ///
    /// - Parameter arguments: further arguments of `redis-server`, such as `--requirepass x`.
    /// - Throws: an error if Redis is not installed or is not ready within 20 s.
    package init(arguments: [String] = []) throws {
        self.port = try FreePort.find()
        self.arguments = arguments
        try self.start()
    }

    deinit { self.kill() }

    /// Kills the server with SIGKILL, so that its data are lost.
    ///
    /// Blocks until the server has ended.
    package func kill() {
        let shell = self.shell.withLock { shell in
            defer { shell = nil }
            return shell
        }
        shell?.end()
    }

    /// Starts the server again on the same port, without data; blocks until it accepts connections.
    ///
    /// - Throws: an error if Redis is not ready within 20 s.
    package func restart() throws {
        self.kill()
        try self.start()
    }

    /// Stops the server with SIGSTOP: connections stay open, but the server answers nothing.
    ///
    /// The stop takes effect after a moment, not at once.
    package func pause() { self.shell.withLock { $0 }?.write("STOP") }

    /// Continues the server after `pause`.
    package func resume() { self.shell.withLock { $0 }?.write("CONT") }

    private func start() throws {
        guard let path = Self.path else { throw RealRedisError(description: "Redis is not installed.") }
        let notification = try ReadyNotification()
        let shell = try WatchedShell(
            Self.script,
            arguments: [
                path, "--port", "\(self.port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                notification.directory, "--supervised", "systemd",
            ] + self.arguments,
            environment: ["NOTIFY_SOCKET": notification.path])
        self.shell.withLock { $0 = shell }
        guard notification.wait(milliseconds: 20_000) else {
            self.kill()
            throw RealRedisError(description: "Redis was not ready within 20 s on port \(self.port).")
        }
    }

    /// The script that runs the server: an input line is a signal for the server, and the end of the input kills it.
    ///
    /// When this process dies while the server is stopped, the kernel sends SIGHUP to the script's process group. The
    /// script ignores SIGHUP, so that it can still kill the server.
    private static let script = """
        trap '' HUP
        "$@" </dev/null >/dev/null 2>&1 &
        server=$!
        while read -r signal; do kill -"$signal" $server; done
        kill -KILL $server; wait $server
        """
}

/// Why Redis could not be started.
package struct RealRedisError: Error, CustomStringConvertible {
    /// The reason, as a sentence.
    package let description: String
}
