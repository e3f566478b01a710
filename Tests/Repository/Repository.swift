// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The checkout that the tests were compiled in, for tests that read sources, documents and fixtures.
package enum Repository {
    /// The folder that holds `Package.swift`.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The bytes of a file.
    ///
    /// - Parameter path: relative to the root, such as `docs/PROTOCOL.md`.
    /// - Returns: the whole content.
    /// - Throws: Foundation's error if the file cannot be read.
    package static func data(_ path: String) throws -> Data { try Data(contentsOf: Self.root.appending(path: path)) }

    /// The text of a file.
    ///
    /// - Parameter path: relative to the root, such as `docs/PROTOCOL.md`.
    /// - Returns: the whole content.
    /// - Throws: Foundation's error if the file cannot be read.
    package static func text(_ path: String) throws -> String { String(decoding: try Self.data(path), as: UTF8.self) }
}
