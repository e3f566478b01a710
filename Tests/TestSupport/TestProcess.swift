// SPDX-License-Identifier: Apache-2.0
package import ChildProcess
internal import Concurrency
package import Foundation

/// A program that a test runs, with pipes to its standard input and output.
package final class TestProcess: Sendable {
    /// The program's process id, valid until `waitForEnd` or `awaitEnd` has returned.
    package let pid: Int32
    /// The pipe to the program's standard input; closing the pipe ends the input.
    package let input: FileHandle
    /// The pipe from the program's standard output; it delivers nothing if the output goes elsewhere.
    package let output: FileHandle

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, then its arguments.
    ///   - environment: variables in addition to those of this process.
    ///   - directory: the program's working directory; nil for that of the test.
    ///   - output: the program's standard output; nil for the pipe `self.output`.
    ///   - errors: the program's standard error; by default that of the test.
    /// - Throws: an error when the program cannot be started.
    package init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        output: ChildProcess.Stream? = nil, errors: ChildProcess.Stream = .descriptor(2)
    ) throws {
        let (inputPipe, outputPipe) = (Pipe(), Pipe())
        self.pid = try ChildProcess.start(
            arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            directory: directory, input: .descriptor(inputPipe.fileHandleForReading.fileDescriptor),
            output: output ?? .descriptor(outputPipe.fileHandleForWriting.fileDescriptor), errors: errors)
        try inputPipe.fileHandleForReading.close()
        try outputPipe.fileHandleForWriting.close()
        self.input = inputPipe.fileHandleForWriting
        self.output = outputPipe.fileHandleForReading
    }

    /// Blocks until the program has ended by itself, and returns how it ended.
    ///
    /// Call either this method or `awaitEnd`, once.
    package func waitForEnd() -> ProcessEnd { ChildProcess.reap(self.pid) }

    /// Waits like `waitForEnd`, but does not block the calling task's thread.
    package func awaitEnd() async -> ProcessEnd { await runOnDedicatedThread { self.waitForEnd() } }

    /// Runs a program to its end; blocks.
    ///
    /// - Returns: how the program ended, and its whole standard output.
    /// - Throws: an error when the program cannot be started, or when a pipe to it fails.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, input: String = "",
        errors: ChildProcess.Stream = .descriptor(2)
    ) throws -> (end: ProcessEnd, output: String) {
        let process = try TestProcess(arguments, environment: environment, directory: directory, errors: errors)
        if !input.isEmpty { try process.input.write(contentsOf: Data(input.utf8)) }
        try process.input.close()
        let output = try process.output.readToEnd() ?? Data()
        return (process.waitForEnd(), String(decoding: output, as: UTF8.self))
    }
}
