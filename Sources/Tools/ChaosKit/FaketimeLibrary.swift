// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Finds libfaketime, a library that gives a process a wrong wall clock.
package enum FaketimeLibrary {
    /// Finds the file in the directories in which Debian's package `libfaketime` installs it.
    ///
    /// - Parameter root: the directory of libraries, with a subdirectory for each architecture.
    /// - Returns: the path of the file; nil when the package is not installed.
    package static func path(under root: String = "/usr/lib") -> String? {
        let directories =
            [root]
            + ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
            .filter { $0.hasSuffix("-linux-gnu") }.map { "\(root)/\($0)" }
        return directories.map { "\($0)/faketime/libfaketime.so.1" }.first(where: FileManager.default.fileExists)
    }
}
