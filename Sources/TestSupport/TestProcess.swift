// SPDX-License-Identifier: Apache-2.0
package import ChildProcess
package import Foundation

/// A program that a test runs: what it says can be read, and what it reads can be written.
package final class TestProcess: Sendable {
    /// Its pid, its own until `end` has returned.
    package let pid: Int32
    /// Where to write what it reads; closing it is the end of that.
    package let input: FileHandle
    /// Where to read its standard output; empty when that goes elsewhere.
    package let output: FileHandle

    /// Starts it.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, then its arguments.
    ///   - environment: variables above this process's own.
    ///   - directory: where it works.
    ///   - output: where its standard output goes; nil for `self.output`.
    ///   - errors: where its standard error goes.
    /// - Throws: when it cannot be started.
    package init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        output: ChildProcess.Stream? = nil, errors: ChildProcess.Stream = .descriptor(2)
    ) throws {
        let (input, said) = (Pipe(), Pipe())
        self.pid = try ChildProcess.start(
            arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            directory: directory, input: .descriptor(input.fileHandleForReading.fileDescriptor),
            output: output ?? .descriptor(said.fileHandleForWriting.fileDescriptor), errors: errors)
        try input.fileHandleForReading.close()
        try said.fileHandleForWriting.close()
        self.input = input.fileHandleForWriting
        self.output = said.fileHandleForReading
    }

    /// Blocks until it has ended; to be called once.
    package func end() -> ProcessEnd { ChildProcess.reap(self.pid) }

    /// Waits until it has ended; to be called once.
    package func ended() async throws -> ProcessEnd { try await onOwnThread { self.end() } }

    /// Runs a program to its end; blocks.
    ///
    /// - Returns: how it ended, and all that it wrote to its standard output.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, input: String = "",
        errors: ChildProcess.Stream = .descriptor(2)
    ) throws -> (end: ProcessEnd, said: String) {
        let process = try TestProcess(arguments, environment: environment, directory: directory, errors: errors)
        if !input.isEmpty { try process.input.write(contentsOf: Data(input.utf8)) }
        try process.input.close()
        let said = try process.output.readToEnd() ?? Data()
        return (process.end(), String(decoding: said, as: UTF8.self))
    }
}
