// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import Testing

@testable import ClusterKit

/// Tests of the lock of a run directory.
@Suite struct RunDirectoryTests {
    @Test func `a directory can be locked while another reader checks again and again whether it is locked`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("plaza-\(UUID().uuidString)").path
        let directory = RunDirectory(path)
        try directory.create()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The first lock creates the lock file. Without this file, `isLocked` would take no lock.
        _ = try directory.lock()
        let isDone = Locked(false)
        let reader = DedicatedThread("reader") {
            while !isDone.withLock({ $0 }) {
                _ = directory.isLocked
                DedicatedThread.sleep(for: .milliseconds(1))
            }
        }
        defer {
            isDone.withLock { $0 = true }
            reader.join()
        }
        // Each round releases the lock at its end. In some of the many rounds, the reader holds the lock at the
        // beginning, and `lock` must try again.
        for _ in 0..<500 { _ = try directory.lock() }
    }
}
