// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A redis-server of one test, on a port of its own.
final class RedisProcess {
    struct Failure: Error {}

    let port: Int
    private let directory: URL
    private let keepsData: Bool
    private var process: Process?

    /// Starts it.
    ///
    /// - Parameter keepsData: whether it writes every change to disk, and reads it at its next start.
    /// - Throws: when it does not start.
    init(keepsData: Bool = false) throws {
        self.port = try FreePort.find()
        self.keepsData = keepsData
        self.directory = FileManager.default.temporaryDirectory.appendingPathComponent("presence-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        try self.start()
    }

    deinit {
        self.kill()
        try? FileManager.default.removeItem(at: self.directory)
    }

    /// Starts it, and returns when it accepts connections.
    func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "redis-server", "--port", "\(self.port)", "--bind", "127.0.0.1", "--save", "", "--dir",
            self.directory.path, "--appendonly", self.keepsData ? "yes" : "no", "--appendfsync", "always",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        var text = ""
        while !text.contains("Ready to accept connections") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure() }
            text += String(decoding: data, as: UTF8.self)
        }
    }

    /// Kills it and waits for its end.
    func kill() {
        guard let process = self.process else { return }
        self.process = nil
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
