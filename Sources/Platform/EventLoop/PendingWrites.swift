// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// The write queue of a stream: the pieces that the system did not accept at once, and the libuv request in progress
/// for the first of them.
///
/// The object exists only while the peer reads too slowly. libuv keeps a pointer to the request until it calls back;
/// the stream retains this object until then.
@safe final class PendingWrites {
    /// The number of queued bytes, including those of the request in progress.
    private(set) var byteCount = 0
    private let request: UnsafeMutablePointer<uv_write_t>
    private var pieces: [SharedBytes] = []
    /// The index of the first unsent piece; the pieces before it were sent.
    private var head = 0
    /// How many sent pieces `pieces` may contain before they are removed from it.
    private static let maxSentPieces = 64
    /// The number of bytes of the first piece that were sent before it was queued.
    private var firstOffset = 0
    /// The number of pieces in the request in progress.
    private var inFlightCount = 0

    /// The maximum number of pieces per request.
    ///
    /// It is small, because a request cannot be cancelled: `dropUnsent()` must keep its pieces.
    private static let maxPiecesPerRequest = 16
    /// The maximum number of queued pieces, so that many tiny pieces cannot fill the memory.
    private static let maxPieces = 16_384

    init() { unsafe self.request = .allocate(capacity: 1) }

    deinit { unsafe self.request.deallocate() }

    /// Whether the queue accepts no further piece.
    var isFull: Bool { self.pieces.count - self.head >= Self.maxPieces }

    /// Appends a piece whose first `sentCount` bytes were already sent; this is 0 for all but the first piece.
    func append(_ piece: SharedBytes, sentCount: Int) {
        if sentCount > 0 { self.firstOffset = sentCount }
        self.pieces.append(piece)
        self.byteCount += piece.count - sentCount
    }

    /// Begins a libuv write request for the first pieces.
    ///
    /// - Returns: libuv's status code.
    func send(on stream: UnsafeMutablePointer<uv_stream_t>, _ callback: uv_write_cb) -> Int32 {
        let count = min(self.pieces.count - self.head, Self.maxPiecesPerRequest)
        self.inFlightCount = count
        return unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: max(count, 1)) { buffers in
            for index in 0..<count {
                let offset = index == 0 ? self.firstOffset : 0
                unsafe buffers[index] = unsafe uv_buf_t(self.pieces[self.head + index], from: offset)
            }
            return unsafe uv_write(self.request, stream, buffers.baseAddress, UInt32(count), callback)
        }
    }

    /// Removes the pieces of the finished request.
    ///
    /// - Returns: Whether the queue is empty.
    func removeSent() -> Bool {
        for index in self.head..<self.head + self.inFlightCount { self.byteCount -= self.pieces[index].count }
        // `byteCount` never included the bytes that were sent before the piece was queued.
        self.byteCount += self.firstOffset
        self.firstOffset = 0
        self.head += self.inFlightCount
        self.inFlightCount = 0
        if self.head == self.pieces.count { return true }
        if self.head >= Self.maxSentPieces {
            self.pieces.removeFirst(self.head)
            self.head = 0
        }
        return false
    }

    /// Removes the pieces that are not part of the request in progress.
    ///
    /// - Returns: The number of removed bytes.
    func dropUnsent() -> Int {
        let firstUnsent = self.head + self.inFlightCount
        let droppedBytes = self.pieces[firstUnsent...].reduce(0) { $0 + $1.count }
        self.pieces.removeSubrange(firstUnsent...)
        self.byteCount -= droppedBytes
        return droppedBytes
    }
}
