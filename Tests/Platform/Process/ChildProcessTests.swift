// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import Concurrency
import Foundation
import TestSupport
import Testing

/// Tests of `ChildProcess`: how a child process starts, what it inherits, and how its end is reported.
@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    @Test func `a child has its arguments, variables, directory and streams, and its exit status is reported`() throws {
        let (end, output) = try TestProcess.run(
            ["sh", "-c", #"read line; echo "$1 $PWD $WORD $line"; echo warned >&2; exit 7"#, "sh", "a b"],
            environment: ["WORD": "variable"], directory: "/usr", input: "typed\n", errors: .output)
        #expect(end == .exited(7))
        #expect(output == "a b /usr variable typed\nwarned\n")
    }

    @Test func `a child inherits no further open files, no blocked signals and no ignored signals`() async throws {
        // Files that the child must not inherit.
        let parentPipe = Pipe()
        let (files, signals) = try await runOnDedicatedThread {
            // The thread that starts the children blocks all signals.
            var allSignals = sigset_t()
            unsafe sigfillset(&allSignals)
            unsafe pthread_sigmask(SIG_BLOCK, &allSignals, nil)
            return (
                try TestProcess.run(["sh", "-c", "ls /proc/$$/fd"]).output,
                try TestProcess.run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]).output
            )
        }
        withExtendedLifetime(parentPipe) {}
        #expect(files == "0\n1\n2\n")
        // Only the signals 1 to 31 are compared, because the C library ignores the signals 32 and 33, its own, in a
        // child.
        let signals1To31: UInt64 = 0x7fff_ffff
        let masks = signals.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0, radix: 16) }
        #expect(masks.map { $0 & signals1To31 } == [0, 0], "\(signals)")
    }

    @Test func `a child leads its own process group, and the signal that ends it is reported`() throws {
        let process = try TestProcess(["cat"])
        #expect(getpgid(process.pid) == process.pid)
        ChildProcess.signal(process.pid, SIGKILL)
        #expect(process.waitForEnd() == .signalled(SIGKILL))
    }

    @Test func `the end of a process that is not a child is reported as unknown, and not as a success`() {
        // No process is its own child.
        let end = ChildProcess.reap(getpid())
        #expect(end == .unknown("No child processes"))
        #expect(end.description == "ended in an unknown way: No child processes")
    }

    @Test func `a program that cannot be started is reported by an error or by the exit status`() {
        let error = #expect(throws: ChildProcess.StartFailure.self) { try TestProcess(["no-such-program"]) }
        #expect(error?.description == "no-such-program: No such file or directory")
        // `ChildProcess.run` starts `setpriv`, which cannot execute a folder and reports that by its exit status.
        let end = ChildProcess.run(["/"], environment: [:], output: .nothing)
        #expect(end == .exited(126) || end == .exited(127), "\(end)")
    }

    @Test func `children append to a log file, which only its owner can read`() throws {
        let log = NSTemporaryDirectory() + "liveplaza-child-\(UUID().uuidString).log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        for word in ["one", "two"] {
            let end = ChildProcess.run(
                ["sh", "-c", "echo \(word)"], environment: ["PATH": "/usr/bin:/bin"], output: .log(log))
            #expect(end == .exited(0))
        }
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "one\ntwo\n")
        let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a child started with endsWithThread ends with its thread`() async throws {
        let pid = try await runOnDedicatedThread {
            let output = Pipe()
            let pid = try ChildProcess.start(
                ["sh", "-c", "echo up; exec sleep 60"], environment: ["PATH": "/usr/bin:/bin"], endsWithThread: true,
                output: .descriptor(output.fileHandleForWriting.fileDescriptor))
            // While the child starts, it asks the system for a signal at the thread's end. The thread must not end
            // before that.
            #expect(output.fileHandleForReading.availableData == Data("up\n".utf8))
            return pid
        }
        #expect(await runOnDedicatedThread { ChildProcess.reap(pid) } == .signalled(SIGKILL))
    }
}
