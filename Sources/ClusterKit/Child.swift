// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// How a process ended.
package enum ProcessEnd: Sendable, Equatable, CustomStringConvertible {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
    /// It never began, for this reason.
    case notStarted(String)

    package var description: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .notStarted(let reason): "could not be started: \(reason)"
        }
    }
}

/// Starting, waiting for and signalling a child process: the fence around `posix_spawn` and `waitid`.
enum Child {
    /// Starts a program with its output appended to `log`, nothing on its input, and no other open file.
    ///
    /// The child leads a process group of its own, so that a terminal's Ctrl-C reaches only us, who then end all in
    /// order. The kernel kills it when the calling *thread* ends (`setpriv --pdeathsig` stays in force over `exec`):
    /// call this on a thread that outlives the child.
    ///
    /// - Parameters:
    ///   - arguments: the program's path, then its arguments.
    ///   - environment: all of its variables.
    ///   - log: the file for its output.
    /// - Returns: its pid, or why there is none.
    static func start(
        _ arguments: [String], environment: [String: String], log: String
    ) -> Result<Int32, StartFailure> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Libraries open sockets without close-on-exec; a copy in a child would keep a dead connection alive.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            if let descriptor = Int32(name), descriptor > 2 {
                unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)

        let command = ["setpriv", "--pdeathsig", "KILL", "--"] + arguments
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let code = unsafe Self.withCStrings(command) { argv in
            unsafe Self.withCStrings(variables) { envp in
                unsafe posix_spawnp(&pid, "setpriv", &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { return .failure(StartFailure(reason: "setpriv: " + Self.text(of: code))) }
        return .success(pid)
    }

    /// Blocks until the child has ended; it stays a zombie, so that its pid belongs to no one else until `reap`.
    static func awaitEnd(of pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    }

    /// Takes the ended child's status and gives up its pid.
    static func reap(_ pid: Int32) -> ProcessEnd {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    /// Sends a signal to a process that has not been reaped.
    static func signal(_ pid: Int32, _ number: Int32) { kill(pid, number) }

    /// Runs a program to its end.
    static func run(_ arguments: [String], environment: [String: String], log: String) -> ProcessEnd {
        switch Self.start(arguments, environment: environment, log: log) {
        case .failure(let failure): return .notStarted(failure.reason)
        case .success(let pid):
            Self.awaitEnd(of: pid)
            return Self.reap(pid)
        }
    }

    /// Why a program could not be started.
    struct StartFailure: Error {
        let reason: String
    }

    private static func text(of code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    /// Lends C's form of a list of strings, ended by a null pointer, for the time of `body`.
    private static func withCStrings<R>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { unsafe list[index] = unsafe strdup(string) }
        unsafe list[strings.count] = nil
        defer {
            for index in strings.indices { unsafe free(list[index]) }
            unsafe list.deallocate()
        }
        return unsafe body(list)
    }
}
