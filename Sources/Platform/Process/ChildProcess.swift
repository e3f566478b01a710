// SPDX-License-Identifier: Apache-2.0
internal import CSpawn
internal import Glibc

/// Starts, awaits and signals child processes.
///
/// No other code of the project calls `posix_spawn` or `waitid`.
///
/// Foundation's `Process` is not used: up to Swift 6.3 it reads past the end of a directory entry and sometimes crashes
/// in `run` (swift-corelibs-foundation #5472), and the child inherits the blocked signals of the calling thread.
package enum ChildProcess {
    /// The source or target of one of a child's three standard streams.
    package enum Stream: Sendable {
        /// `/dev/null`.
        case nothing
        /// A copy of one of this process's descriptors; the original stays open.
        case descriptor(Int32)
        /// A file to which the child appends; a new file is accessible to the current user only.
        case log(String)
        /// The same as standard output; for standard error only.
        case output
    }

    /// Why a program could not be started.
    package struct StartFailure: Error, CustomStringConvertible {
        /// The program and the system's error text.
        package let description: String
    }

    /// Starts a program with its three standard streams and no other open files.
    ///
    /// The child leads its own process group. Therefore a terminal's Ctrl-C reaches only this process, which then
    /// stops its children one after the other. No signal is blocked or ignored in the child. The caller must `reap` the
    /// child.
    ///
    /// - Parameters:
    ///   - arguments: the program's path, or a name that is searched for on the `PATH`; then the program's arguments.
    ///   - environment: all environment variables of the child.
    ///   - directory: the child's working directory; nil for that of this process.
    ///   - endsWithThread: whether the kernel kills the child when the calling thread (not only the process) ends.
    ///   - input: the child's standard input.
    ///   - output: the child's standard output.
    ///   - errors: the child's standard error.
    /// - Returns: the child's pid.
    /// - Throws: `StartFailure` when the system cannot start the program.
    package static func start(
        _ arguments: [String], environment: [String: String], directory: String? = nil, endsWithThread: Bool = false,
        input: Stream = .nothing, output: Stream = .nothing, errors: Stream = .output
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // Descriptors 0, 1 and 2 are the standard streams.
        for (descriptor, stream) in zip(Int32(0)..., [input, output, errors]) {
            unsafe Self.addOpening(of: stream, as: descriptor, to: &actions)
        }
        // Some libraries open sockets without close-on-exec. A copy in the child would keep a connection open after
        // this process has closed it. Therefore the child closes all descriptors from 3 on.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        if let directory { unsafe posix_spawn_file_actions_addchdir_np(&actions, directory) }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var noSignals = sigset_t()
        unsafe sigemptyset(&noSignals)
        unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
        var allSignals = sigset_t()
        unsafe sigfillset(&allSignals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &allSignals)

        // The program `setpriv` sets the parent-death signal, which survives `exec`, and then becomes the program.
        let command = endsWithThread ? ["setpriv", "--pdeathsig", "KILL", "--"] + arguments : arguments
        let program = command.first ?? ""
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let code = unsafe Self.withCStrings(command) { argv in
            unsafe Self.withCStrings(variables) { envp in
                unsafe posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw StartFailure(description: "\(program): \(Self.text(of: code))") }
        return pid
    }

    /// Blocks until the child has ended.
    ///
    /// The child stays a zombie, so its pid is not reused before `reap`.
    package static func awaitEnd(of pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    }

    /// Blocks until the child has ended, and releases its pid.
    ///
    /// - Returns: how the child ended; `unknown` if the pid is not that of a child that has not been reaped.
    package static func reap(_ pid: Int32) -> ProcessEnd {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 {
            let code = errno
            // The system has not set the status, whose 0 would read as a success.
            if code != EINTR { return .unknown(Self.text(of: code)) }
        }
        // The lowest seven bits are the signal that ended the process, or 0; the next byte is the exit status.
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    /// Sends the signal `number` to a process that has not been reaped.
    package static func signal(_ pid: Int32, _ number: Int32) { kill(pid, number) }

    /// Runs a program, and waits until it has ended; if the calling thread ends before, the kernel kills the program.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, then its arguments.
    ///   - environment: all environment variables of the program.
    ///   - output: the program's standard output and error.
    /// - Returns: how the program ended.
    package static func run(_ arguments: [String], environment: [String: String], output: Stream) -> ProcessEnd {
        do {
            return Self.reap(
                try Self.start(arguments, environment: environment, endsWithThread: true, output: output))
        } catch {
            return .notStarted("\(error)")
        }
    }

    /// Adds the action that opens `stream` as `descriptor` in the child.
    private static func addOpening(
        of stream: Stream, as descriptor: Int32, to actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .nothing: unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        case .descriptor(let original):
            unsafe posix_spawn_file_actions_adddup2(&actions, original, descriptor)
        case .log(let path):
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Descriptor 1 is opened before 2, so the child's standard output exists when standard error copies it.
        case .output: unsafe posix_spawn_file_actions_adddup2(&actions, 1, descriptor)
        }
    }

    /// The system's text for an error number.
    private static func text(of code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    /// Passes `body` an array of C strings with a null pointer at its end; it is valid only during the call.
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
