// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// An advisory lock on a file, held by this process until it is freed or the process ends.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Opens the file; nil when that is refused, or it is missing and not to be made.
    init?(path: String, create: Bool) {
        let flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0)
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Takes the lock without waiting; false when another holds it.
    func take() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 }

    deinit { close(self.descriptor) }
}

/// File calls that Foundation has no exact words for.
enum SystemFile {
    /// Writes a file anew; its permissions hold from its first byte on.
    static func write(_ data: Data, to path: String, mode: Int) -> Bool {
        unsafe unlink(path)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { return false }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: data)
            try file.close()
            return true
        } catch {
            return false
        }
    }

    /// Puts `old` in the place of `new` in one step.
    static func rename(_ old: String, to new: String) -> Bool { unsafe Glibc.rename(old, new) == 0 }

    /// Whether the file is there and may be executed.
    static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
}
