// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import Testing

@testable import ClusterKit

@Suite struct RunDirectoryTests {
    @Test func `a directory can be locked while another reader checks again and again whether it is locked`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("plaza-\(UUID().uuidString)").path
        let directory = RunDirectory(path)
        try directory.create()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The file of the lock exists from the first lock on; before, `isLocked` takes no lock.
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
        // The lock is released at the end of each round. In some of the many rounds the reader holds it at first.
        for _ in 0..<500 { _ = try directory.lock() }
    }
}
