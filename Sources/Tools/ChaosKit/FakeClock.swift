// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Finds libfaketime, with which a process gets a wrong clock of the day.
package enum FakeClock {
    /// Looks where Debian's package `libfaketime` installs the library.
    ///
    /// - Parameter root: the directory under which libraries are, with one directory for each architecture.
    /// - Returns: the file; nil when the package is not installed.
    package static func library(under root: String = "/usr/lib") -> String? {
        let directories =
            [root]
            + ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
            .filter { $0.hasSuffix("-linux-gnu") }.map { "\(root)/\($0)" }
        return directories.map { "\($0)/faketime/libfaketime.so.1" }.first(where: FileManager.default.fileExists)
    }
}
