// SPDX-License-Identifier: Apache-2.0
import Compression
import Testing

/// Tests of `DeflateStream`, which compresses one piece after the other, and of `Inflation`, which decompresses all
/// pieces together.
@Suite("Deflate")
struct DeflateTests {
    /// A row of a machine's state; two rows differ only in their number.
    private func row(_ number: Int) -> [UInt8] {
        Array(#"{"feed":{"row":{"epoch":17,"lastNumber":\#(number),"owner":"alice","ages":[0,25,50]}}}"#.utf8)
    }

    @Test func `after each append, all pieces together inflate to all appended bytes`() throws {
        let stream = DeflateStream()
        var compressed: [UInt8] = []
        var expected: [UInt8] = []
        for number in 0..<200 {
            let bytes = self.row(number)
            expected += bytes
            compressed += stream.append(bytes)
            #expect(try Inflation.inflate(compressed, limit: 1 << 20) == expected)
        }
    }

    @Test func `a changed version of an earlier row compresses to about a fifth of its size`() {
        let stream = DeflateStream()
        _ = stream.append(self.row(0))
        // The 20 bytes allow for what each append adds, whatever the size of the row.
        #expect(stream.append(self.row(1)).count * 5 <= self.row(1).count + 20)
    }

    @Test func `100,000 random bytes, which fill many buffers, are the same after compression and inflation`() throws {
        // The linear congruential generator of Knuth's MMIX.
        var state: UInt64 = 1
        let bytes = (0..<100_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        let stream = DeflateStream()
        // An empty piece and a short one follow.
        let compressed = stream.append(bytes) + stream.append([]) + stream.append([1, 2, 3])
        #expect(try Inflation.inflate(compressed, limit: 200_000) == bytes + [1, 2, 3])
    }

    @Test func `an empty input inflates to an empty output`() throws {
        #expect(try Inflation.inflate([], limit: 10) == [])
    }

    @Test func `data that would inflate to more bytes than the limit is rejected`() {
        let compressed = DeflateStream().append([UInt8](repeating: 7, count: 5000))
        #expect(throws: InflationError.tooLong(limit: 4999)) { try Inflation.inflate(compressed, limit: 4999) }
    }

    @Test func `a stream that ends inside a piece is rejected`() throws {
        let stream = DeflateStream()
        let firstPiece = stream.append(Array("a first piece, ".utf8))
        let pieces = firstPiece + stream.append(Array("and a second piece".utf8))
        // A stream may end between two pieces, so the end of the first piece is left out.
        for end in 1..<pieces.count where end != firstPiece.count {
            #expect(throws: InflationError.corrupt, "\(end) of \(pieces.count) bytes") {
                try Inflation.inflate(Array(pieces[..<end]), limit: 1000)
            }
        }
    }

    @Test func `bytes that are not deflate data are rejected`() {
        #expect(throws: InflationError.corrupt) {
            try Inflation.inflate([0xff, 0xff, 0xff, 0xff], limit: 1000)
        }
    }
}
