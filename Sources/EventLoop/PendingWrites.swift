// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// The pieces that the system did not take at once, and the one request that is under way for the first of them.
///
/// It exists only while a peer is behind. libuv keeps a pointer to the request until its callback; the stream holds this
/// object until then.
@safe final class PendingWrites {
    /// How many bytes wait, those of the request under way included.
    private(set) var byteCount = 0
    private let request: UnsafeMutablePointer<uv_write_t>
    private var pieces: [SharedBytes] = []
    /// Where the pieces begin that are not sent; those before are forgotten when they are many.
    private var head = 0
    /// How much of the first piece had been sent by the attempt that fell short.
    private var firstOffset = 0
    private var underWay = 0

    /// Pieces per request; few, because they cannot be called back.
    private static let mostPiecesPerRequest = 16
    /// Most pieces that may wait, so that tiny ones cannot fill memory with bookkeeping.
    private static let mostPieces = 16_384

    init() { unsafe self.request = .allocate(capacity: 1) }

    deinit { unsafe self.request.deallocate() }

    /// Whether no further piece may wait.
    var isFull: Bool { self.pieces.count - self.head >= Self.mostPieces }

    /// Adds a piece, of which the first `from` bytes were sent already (for the first piece only).
    func append(_ piece: SharedBytes, from: Int) {
        if from > 0 { self.firstOffset = from }
        self.pieces.append(piece)
        self.byteCount += piece.count - from
    }

    /// Begins a request for the first pieces.
    ///
    /// - Returns: libuv's status.
    func send(on stream: UnsafeMutablePointer<uv_stream_t>, _ callback: uv_write_cb) -> Int32 {
        let count = min(self.pieces.count - self.head, Self.mostPiecesPerRequest)
        self.underWay = count
        return unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: max(count, 1)) { buffers in
            for at in 0..<count {
                let from = at == 0 ? self.firstOffset : 0
                unsafe buffers[at] = unsafe uv_buf_t(self.pieces[self.head + at], from: from)
            }
            return unsafe uv_write(self.request, stream, buffers.baseAddress, UInt32(count), callback)
        }
    }

    /// The request under way is done.
    ///
    /// - Returns: Whether nothing waits any more.
    func sent() -> Bool {
        for at in self.head..<self.head + self.underWay { self.byteCount -= self.pieces[at].count }
        self.byteCount += self.firstOffset
        self.firstOffset = 0
        self.head += self.underWay
        self.underWay = 0
        if self.head == self.pieces.count { return true }
        if self.head >= 64 {
            self.pieces.removeFirst(self.head)
            self.head = 0
        }
        return false
    }

    /// Forgets what is not under way.
    ///
    /// - Returns: How many bytes that was.
    func dropUnsent() -> Int {
        let begun = self.head + self.underWay
        let dropped = self.pieces[begun...].reduce(0) { $0 + $1.count }
        self.pieces.removeSubrange(begun...)
        self.byteCount -= dropped
        return dropped
    }
}
