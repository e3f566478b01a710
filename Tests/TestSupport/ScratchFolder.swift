// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A new folder for the files of one test, which only its owner can read.
///
/// It is removed with this object. A suite that holds it in a property has one for each test, and leaves nothing behind
/// when a test fails.
package final class ScratchFolder: Sendable {
    /// The folder's path.
    package let path: String

    /// Creates the folder.
    package init() throws {
        self.path = NSTemporaryDirectory() + "liveplaza-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
