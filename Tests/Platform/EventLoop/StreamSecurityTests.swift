// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import EventLoop

/// Tests of the largest size that a write can have after its encryption.
///
/// A stream compares this size with its limit before it encrypts, because it cannot take back encrypted bytes.
@Suite struct StreamSecurityTests {
    /// The arguments: the sizes of the pieces of one write, in bytes.
    @Test(arguments: [
        [0], [1], [16_384], [16_385], [1_000_000], [Int](repeating: 1, count: 1_000), [0, 70_000, 5, 16_385],
    ])
    func `the maximum size after encryption has room for the records of every piece`(sizes: [Int]) {
        let pieces = sizes.map { size in SharedBytes([UInt8](repeating: 0, count: size)) }
        // TLS 1.3 encrypts each piece in records of at most 16 KiB, and adds 22 bytes to each record.
        let recordCount = sizes.reduce(0) { $0 + ($1 + 16_383) / 16_384 }
        let addedBytes = TCPStream.maxEncryptedBytes(pieces) - sizes.reduce(0, +)
        #expect(addedBytes >= 22 * recordCount)
        // The maximum must not reject writes that are far below the limit.
        #expect(addedBytes <= 128 * recordCount)
    }
}
