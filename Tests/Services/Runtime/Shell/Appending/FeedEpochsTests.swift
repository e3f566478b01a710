// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ServiceShell

/// Tests of `FeedEpochs`, the epoch claims in the metadata of a committed offset.
///
/// A claim is a record with which an owner of a partition begins a higher epoch. The first line of the metadata belongs
/// to the processor, and the second line has the claims: `@CHECKPOINT EPOCH:OFFSET …`. `CHECKPOINT` is the offset of
/// the feed from which a restore reads appended batches.
@Suite("Claims in an offset's metadata")
struct FeedEpochsTests {
    @Test func `claims with invalid offsets are rejected`() {
        // Valid offsets are `FeedPosition.validNumbers`. 9223372036854775807 is `Int64.max`, which is beyond them.
        #expect(FeedEpochs(metadata: "5\n@12 5:7 9:11")?.claims.count == 2)
        for line in ["@9223372036854775807", "@-1", "@1 5:-7", "@1 5:9223372036854775807"] {
            #expect(FeedEpochs(metadata: line) == nil, "\(line)")
        }
    }

    @Test func `claims are read back from the line after the processor's line`() throws {
        var claims = FeedEpochs()
        claims.add(epoch: 4, offset: 10)
        claims.add(epoch: 9, offset: 20)
        // A checkpoint was written when the feed ended at the offset 25.
        claims.checkpointOffset = 25
        #expect(FeedEpochs(metadata: "1700\n" + claims.line) == claims)
        #expect(CheckpointDelta.processorMetadata(in: "1700\n" + claims.line) == "1700")
    }

    @Test func `metadata without a valid line of claims is read as no claims`() {
        // In "1700\neJwr…" the second line has compressed rows. A machine that does not append batches writes them.
        for metadata in ["", "1700", "1700\neJwrSS0uAQAEXQHB", "1700\n@", "1700\n@x", "1700\n@1 2", "1700\n@1 2:3:4"] {
            #expect(FeedEpochs(metadata: metadata) == nil, "\(metadata)")
        }
    }

    @Test func `only the last eight claims are stored, and a claim moves the checkpoint to the offset after it`() {
        var claims = FeedEpochs()
        // The claim of epoch n is at offset 10 * n.
        for number in 1...20 { claims.add(epoch: Int64(number), offset: Int64(number * 10)) }
        #expect(claims.claims.map(\.epoch) == Array(13...20))
        #expect(claims.checkpointOffset == 201, "the offset after the last claim")
        #expect(claims.epoch(before: 205) == 20)
        #expect(claims.epoch(before: 200) == 19)
        #expect(claims.epoch(before: 100) == .min, "the claims of the epochs 1 to 12 are not stored any more")
        // The claims take less than an eighth of the 4096 bytes that the broker allows for an offset's metadata.
        #expect(claims.line.utf8.count < 512)
    }
}
