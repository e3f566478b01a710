// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A new folder for the files of one test, which only its owner can read.
///
/// The folder is removed with this object. A suite that holds the object in a property has a folder for each test, and
/// leaves nothing behind when a test fails.
package final class ScratchFolder: Sendable {
    /// The folder's path.
    package let path: String

    /// Creates the folder.
    ///
    /// - Throws: an error if the folder cannot be created.
    package init() throws {
        self.path = NSTemporaryDirectory() + "liveplaza-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
