// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import Repository

/// The Python packages of `Tests/requirements.txt`, in `.build/python`.
///
/// `deploy/test.sh` may have installed the packages. If not, the first test that needs them installs them.
package enum PythonPackages {
    /// Whether this machine has a Python with pip, without which nothing can be installed.
    package static let hasPip = PythonPackages.run(["-m", "pip", "--version"], isQuiet: true)

    /// The directory of the packages, installed at the first use; nil when they could not be installed.
    package static let path: String? = {
        let directory = Repository.root.appending(path: ".build/python").path
        let requirements = Repository.root.appending(path: "Tests/requirements.txt").path
        // A Python program that exits with 0 if every package of the file is installed in the version given there.
        let check = """
            import importlib.metadata as m, sys
            lines = [l.strip() for l in open(sys.argv[1]) if "==" in l and not l.startswith("#")]
            sys.exit(any(m.version(n) != v for n, v in (l.split("==") for l in lines)))
            """
        if Self.run(["-c", check, requirements], packages: directory, isQuiet: true) { return directory }
        let isInstalled = Self.run([
            "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
            "--upgrade", "--target", directory, "--requirement", requirements,
        ])
        return isInstalled ? directory : nil
    }()

    /// A directory with librdkafka 2.6.1 as `librdkafka.so.1`, for `LD_LIBRARY_PATH`; nil when it could not be
    /// installed.
    ///
    /// Debian 12's librdkafka cannot log in at Kafka 4 by SCRAM. The librdkafka in the Python package `confluent-kafka`
    /// can.
    package static let newerLibrdkafka: String? = {
        guard let path = Self.path else { return nil }
        let libraries = path + "/confluent_kafka.libs"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
        guard let name = names.first(where: { $0.hasPrefix("librdkafka") }) else { return nil }
        let directory = path + "/librdkafka"
        let link = directory + "/librdkafka.so.1"
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try? FileManager.default.removeItem(atPath: link)
        try? FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(libraries)/\(name)")
        return FileManager.default.fileExists(atPath: link) ? directory : nil
    }()

    /// The environment of a Python that finds the packages and writes no bytecode files.
    package static func environment(packages: String?) -> [String: String] {
        ["PYTHONPATH": packages ?? "", "PYTHONDONTWRITEBYTECODE": "1"]
    }

    /// Runs Python to its end; returns whether it exited with 0.
    private static func run(_ arguments: [String], packages: String? = nil, isQuiet: Bool = false) -> Bool {
        let result = try? TestProcess.run(
            ["python3"] + arguments, environment: Self.environment(packages: packages),
            errors: isQuiet ? .nothing : .descriptor(2))
        return result?.end == .exited(0)
    }
}
