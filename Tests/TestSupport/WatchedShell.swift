// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation
internal import Glibc

/// A shell script that ends when this process ends.
///
/// The script's standard input is a pipe to which only this process can write. When this process ends, the input ends
/// too, and the script must then end itself.
@safe final class WatchedShell: Sendable {
    private struct State {
        var input: Int32?
        var pid: pid_t?
    }

    private let state: Locked<State>

    /// Starts the script.
    ///
    /// - Parameters:
    ///   - script: a script that reads its standard input, and ends when the input ends.
    ///   - arguments: the values of `$1` and so on.
    ///   - environment: variables in addition to those of this process.
    /// - Throws: an error when the pipe or the shell cannot be created.
    init(_ script: String, arguments: [String], environment: [String: String]) throws {
        var pipeEnds: [Int32] = [-1, -1]
        guard unsafe pipe(&pipeEnds) == 0 else { throw TestServerError("No pipe: error \(errno).") }
        defer { close(pipeEnds[0]) }
        _ = fcntl(pipeEnds[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(pipeEnds[1], F_SETFD, FD_CLOEXEC)

        do {
            let pid = try ChildProcess.start(
                ["sh", "-c", script, "sh"] + arguments,
                environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
                input: .descriptor(pipeEnds[0]), output: .nothing)
            self.state = Locked(State(input: pipeEnds[1], pid: pid))
        } catch {
            close(pipeEnds[1])
            throw error
        }
    }

    deinit { self.end() }

    /// Writes a line to the script's standard input.
    func write(_ line: String) {
        guard let input = self.state.withLock({ $0.input }) else { return }
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
    }

    /// Closes the script's standard input and waits until the script has ended.
    func end() {
        let state = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        if let input = state.input { close(input) }
        guard let pid = state.pid else { return }
        _ = ChildProcess.reap(pid)
    }
}
