// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation

/// The Python packages of `Tests/requirements.txt`, in `.build/python`.
///
/// `deploy/test.sh` may have put them there; what is missing is installed by the first test that asks.
package enum PythonPackages {
    /// Whether this machine has a Python with pip, without which nothing can be installed.
    package static let hasPip = PythonPackages.run(["-m", "pip", "--version"], isQuiet: true)

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
        if Self.run(["-c", check, requirements], packages: directory, isQuiet: true) { return directory }
        let isDone = Self.run([
            "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
            "--upgrade", "--target", directory, "--requirement", requirements,
        ])
        return isDone ? directory : nil
    }()

    /// The variables of a Python that finds the packages and leaves no files beside its sources.
    package static func environment(packages: String?) -> [String: String] {
        ["PYTHONPATH": packages ?? "", "PYTHONDONTWRITEBYTECODE": "1"]
    }

    private static func run(_ arguments: [String], packages: String? = nil, isQuiet: Bool = false) -> Bool {
        let run = try? TestProcess.run(
            ["python3"] + arguments, environment: Self.environment(packages: packages),
            errors: isQuiet ? .nothing : .descriptor(2))
        return run?.end == .exited(0)
    }
}
