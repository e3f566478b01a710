// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The Python packages of `Tests/requirements.txt`, in `.build/python`.
///
/// `deploy/test.sh` may have put them there; what is missing is installed by the first test that asks.
package enum PythonPackages {
    /// Whether this machine has a Python with pip, without which nothing can be installed.
    package static let hasPip = PythonPackages.run(["-m", "pip", "--version"], isQuiet: true) == 0

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where the packages are, once they are; nil when they could not be installed.
    package static let path: String? = {
        let directory = Self.root.appending(path: ".build/python").path
        let requirements = Self.root.appending(path: "Tests/requirements.txt").path
        // Whether all that the file names is there, in the versions that it names.
        let check = """
            import importlib.metadata as m, sys
            lines = [l.strip() for l in open(sys.argv[1]) if "==" in l and not l.startswith("#")]
            sys.exit(any(m.version(n) != v for n, v in (l.split("==") for l in lines)))
            """
        if Self.run(["-c", check, requirements], packages: directory, isQuiet: true) == 0 { return directory }
        let status = Self.run([
            "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
            "--upgrade", "--target", directory, "--requirement", requirements,
        ])
        return status == 0 ? directory : nil
    }()

    /// A Python process that finds the packages, with its standard output in `output`.
    ///
    /// - Parameters:
    ///   - arguments: of the interpreter.
    ///   - packages: the folder of the packages.
    ///   - output: takes the standard output.
    ///   - input: gives the standard input.
    ///   - isQuiet: whether the standard error goes nowhere.
    ///   - directory: where it works.
    /// - Returns: the running process.
    /// - Throws: when it cannot be started.
    package static func process(
        _ arguments: [String], packages: String?, output: Pipe? = nil, input: Pipe? = nil,
        isQuiet: Bool = false, directory: URL? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["PYTHONPATH"] = packages
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = environment
        if let directory { process.currentDirectoryURL = directory }
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
