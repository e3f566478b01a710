// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// A shell script that ends when this process does: its standard input is a pipe that nobody else holds.
///
/// Foundation's `Process` hands down the signal mask of the calling thread, and many threads here block all signals; a
/// shell with `SIGCHLD` blocked waits for ever. So this starts with a clean mask.
@safe final class WatchedShell: Sendable {
    private struct State {
        var input: Int32?
        var pid: pid_t?
    }

    private let state: Locked<State>

    /// Starts the script.
    ///
    /// - Parameters:
    ///   - script: reads its standard input, to see the end of it.
    ///   - arguments: `$1` and so on.
    ///   - environment: added to this process's.
    /// - Throws: `LiveKafkaError` with the system's code.
    init(_ script: String, arguments: [String], environment: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw LiveKafkaError("No pipe: error \(errno).") }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        // A group of its own, so that Ctrl-C reaches it through the pipe alone.
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        var variables: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            if !environment.keys.contains(where: { variable.hasPrefix("\($0)=") }) { variables.append(variable) }
            unsafe entry = unsafe entry.advanced(by: 1)
        }
        variables += environment.map { "\($0.key)=\($0.value)" }

        var pid: pid_t = 0
        let code = unsafe Self.withPointers(["sh", "-c", script, "sh"] + arguments) { argv in
            unsafe Self.withPointers(variables) { envp in
                unsafe posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else {
            close(ends[1])
            throw LiveKafkaError("/bin/sh could not be started: error \(code).")
        }
        self.state = Locked(State(input: ends[1], pid: pid))
    }

    deinit { self.end() }

    /// Writes a line to the script's standard input.
    func write(_ line: String) {
        guard let input = self.state.withLock({ $0.input }) else { return }
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
    }

    /// Closes the script's standard input and waits for the script's end.
    func end() {
        let state = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        if let input = state.input { close(input) }
        guard let pid = state.pid else { return }
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }

    /// Calls the body with a null-terminated array of C strings.
    private static func withPointers<R>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = unsafe strings.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeBufferPointer { buffer in
            // The terminator is always there, so there is an address.
            guard let start = buffer.baseAddress else { preconditionFailure("no terminator") }
            return unsafe body(start)
        }
    }
}
