// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The Python packages of `Tests/requirements.txt`, in `.build/python`.
///
/// `deploy/test.sh` may have put them there; what is missing is installed by the first test that asks.
enum PythonPackages {
    /// Whether this machine has a Python with pip, without which nothing can be installed.
    static let hasPip = PythonPackages.run(["-m", "pip", "--version"], isQuiet: true) == 0

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where the packages are, once they are; nil when they could not be installed.
    static let path: String? = {
        let directory = Self.root.appending(path: ".build/python").path
        let requirements = Self.root.appending(path: "Tests/requirements.txt").path
        let version = "import websockets, sys; sys.exit(websockets.__version__ != '15.0.1')"
        if Self.run(["-c", version], packages: directory, isQuiet: true) == 0 { return directory }
        let status = Self.run([
            "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
            "--upgrade", "--target", directory, "--requirement", requirements,
        ])
        return status == 0 ? directory : nil
    }()

    /// A Python process that finds the packages, with its standard output in `output`.
    static func process(
        _ arguments: [String], packages: String?, output: Pipe? = nil, input: Pipe? = nil,
        isQuiet: Bool = false
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["PYTHONPATH"] = packages
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = environment
        if let output { process.standardOutput = output }
        if let input { process.standardInput = input }
        if isQuiet { process.standardError = FileHandle.nullDevice }
        try process.run()
        return process
    }

    private static func run(_ arguments: [String], packages: String? = nil, isQuiet: Bool = false) -> Int32 {
        let nothing = Pipe()
        guard let process = try? Self.process(arguments, packages: packages, output: nothing, isQuiet: isQuiet) else {
            return -1
        }
        _ = try? nothing.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
