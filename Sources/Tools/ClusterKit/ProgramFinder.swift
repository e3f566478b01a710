// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Finds the executables of this project and of the system.
package struct ProgramFinder: Sendable {
    /// The directory of `plaza` and the services.
    package let directory: String

    /// Uses the given directory, or searches for the programs of this build.
    ///
    /// The search order is: `LIVEPLAZA_BIN_DIR`, the directory of the running program, the directory of the test
    /// bundle, and the build folder of the package.
    ///
    /// - Throws: `missingProgram` when the search finds no directory with the programs.
    package init(
        directory: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        sourceFile: String = #filePath
    ) throws(ClusterError) {
        if let directory {
            self.directory = RunDirectory(directory).path
            return
        }
        var candidates = [environment["LIVEPLAZA_BIN_DIR"]].compactMap { $0 }
        if let running = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            candidates.append(Self.parent(of: running))
        }
        candidates += CommandLine.arguments.filter { $0.contains("/") }.flatMap { argument in
            // The argument may be a file inside the test bundle.
            [Self.parent(of: argument), Self.parent(of: Self.parent(of: argument))]
        }
        if let sources = sourceFile.range(of: "/Sources/Tools/ClusterKit/", options: .backwards) {
            let root = String(sourceFile[..<sources.lowerBound])
            candidates += [root + "/.build/debug", root + "/.build/release"]
        }
        let firstMatch = candidates.first {
            SystemFile.isExecutable($0 + "/plaza") && SystemFile.isExecutable($0 + "/gateway")
        }
        guard let firstMatch else {
            throw .missingProgram(
                name: "LivePlaza's programs (plaza, gateway, …)",
                remedy: "Build them with `swift build`, or name their directory in LIVEPLAZA_BIN_DIR.")
        }
        self.directory = RunDirectory(firstMatch).path
    }

    /// The path of one of the project's programs.
    ///
    /// - Throws: `missingProgram` when `directory` does not have the program.
    package func path(of name: String) throws(ClusterError) -> String {
        let path = self.directory + "/" + name
        guard SystemFile.isExecutable(path) else {
            throw .missingProgram(name: path, remedy: "Build it with `swift build --product \(name)`.")
        }
        return path
    }

    /// The path of a system program on the `PATH`.
    ///
    /// - Throws: `missingProgram`, with the Debian package to install, when the program is not found.
    package static func onPath(_ name: String, package: String) throws(ClusterError) -> String {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        // Debian installs servers in sbin, which is not in a user's PATH.
        for directory in directories.map(String.init) + ["/usr/sbin", "/usr/bin", "/bin"] {
            let path = directory + "/" + name
            if SystemFile.isExecutable(path) { return path }
        }
        throw .missingProgram(name: name, remedy: "On Debian: apt-get install \(package) (deploy/install.sh does it).")
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
