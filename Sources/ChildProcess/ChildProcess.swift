// SPDX-License-Identifier: Apache-2.0
internal import CSpawn
internal import Glibc

/// Starting, waiting for and signalling child processes: the one fence around `posix_spawn` and `waitid`.
///
/// Not Foundation's `Process`, for up to Swift 6.3 it reads past the end of a directory entry and now and then crashes
/// in `run` (swift-corelibs-foundation #5472), and it hands the signals that its caller's thread blocks down to the child.
package enum ChildProcess {
    /// What one of a child's three standard streams is.
    package enum Stream: Sendable {
        /// `/dev/null`.
        case nothing
        /// A copy of one of our descriptors, which stays open here.
        case descriptor(Int32)
        /// A file that it appends to, made for our user alone if it is not there.
        case log(String)
        /// What standard output is; for standard error.
        case output
    }

    /// Why a program could not be started.
    package struct StartFailure: Error, CustomStringConvertible {
        /// The program, and the system's words.
        package let description: String
    }

    /// Starts a program with three streams and no other open file.
    ///
    /// The child leads a process group of its own, so that a terminal's Ctrl-C reaches only us, who then end it in
    /// order; no signal is blocked or ignored in it. Whoever starts it must `reap` it.
    ///
    /// - Parameters:
    ///   - arguments: the program's name, looked for on the `PATH`, or its path; then its arguments.
    ///   - environment: all of its variables.
    ///   - directory: where it works; nil for where we do.
    ///   - endsWithThread: whether the kernel kills it when the calling *thread* ends, however that ends.
    ///   - input: its standard input.
    ///   - output: its standard output.
    ///   - errors: its standard error.
    /// - Returns: its pid.
    /// - Throws: `StartFailure`.
    package static func start(
        _ arguments: [String], environment: [String: String], directory: String? = nil, endsWithThread: Bool = false,
        input: Stream = .nothing, output: Stream = .nothing, errors: Stream = .output
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, stream) in zip(Int32(0)..., [input, output, errors]) {
            unsafe Self.open(stream, as: descriptor, &actions)
        }
        // Libraries open sockets without close-on-exec; a copy in a child would keep a dead connection alive.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        if let directory { unsafe posix_spawn_file_actions_addchdir_np(&actions, directory) }

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

        // What `setpriv` asks for stays in force over `exec`.
        let arguments = endsWithThread ? ["setpriv", "--pdeathsig", "KILL", "--"] + arguments : arguments
        let program = arguments.first ?? ""
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let code = unsafe Self.withCStrings(arguments) { argv in
            unsafe Self.withCStrings(variables) { envp in
                unsafe posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw StartFailure(description: "\(program): \(Self.text(of: code))") }
        return pid
    }

    /// Blocks until the child has ended; it stays a zombie, so that its pid belongs to no one else until `reap`.
    package static func awaitEnd(of pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    }

    /// Takes the child's status and gives up its pid; blocks until it has ended.
    package static func reap(_ pid: Int32) -> ProcessEnd {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    /// Sends a signal to a process that has not been reaped.
    package static func signal(_ pid: Int32, _ number: Int32) { kill(pid, number) }

    /// Runs a program to its end, or to that of the calling thread.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, then its arguments.
    ///   - environment: all of its variables.
    ///   - output: its standard output and error.
    /// - Returns: how it ended.
    package static func run(_ arguments: [String], environment: [String: String], output: Stream) -> ProcessEnd {
        do {
            return Self.reap(
                try Self.start(arguments, environment: environment, endsWithThread: true, output: output))
        } catch {
            return .notStarted("\(error)")
        }
    }

    private static func open(
        _ stream: Stream, as descriptor: Int32, _ actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .nothing: unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        case .descriptor(let ours): unsafe posix_spawn_file_actions_adddup2(&actions, ours, descriptor)
        case .log(let path):
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        case .output: unsafe posix_spawn_file_actions_adddup2(&actions, 1, descriptor)
        }
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
