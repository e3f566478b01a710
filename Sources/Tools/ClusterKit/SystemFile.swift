// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// An advisory lock on a file, held until this object is released or the process ends.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Opens the file without locking it; nil when it cannot be opened, or is missing and `create` is false.
    init?(path: String, create: Bool) {
        let flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0)
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Tries to acquire the lock without blocking; false when another process holds it.
    func tryAcquire() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 }

    deinit { close(self.descriptor) }
}

/// File operations that Foundation does not offer in this form.
enum SystemFile {
    /// Deletes the file if it exists, and writes a new one that is created with the permissions `mode`; false on
    /// failure.
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

    /// Renames `old` to `new`, which atomically replaces a file of that name; false on failure.
    static func rename(_ old: String, to new: String) -> Bool { unsafe Glibc.rename(old, new) == 0 }

    /// Whether the file exists and may be executed.
    static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
}
