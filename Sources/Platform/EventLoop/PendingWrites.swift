// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import MachineKit

/// The write queue of a `TCPStream`: the pieces that the system did not accept at once.
///
/// For the first pieces, a write request of libuv (the event loop's library) is in progress. The queue exists only
/// while the peer reads too slowly. libuv keeps a pointer to the request until it calls back, and the stream retains
/// the queue until then. The memory of the pieces counts in the loop's `outputBudget`.
@safe final class PendingWrites {
    /// The number of queued bytes, including those of the request in progress.
    private(set) var byteCount = 0
    /// The memory of the pieces that are not shared with other streams, in bytes.
    private(set) var ownBytes = 0
    private let loop: EventLoop
    private let request: UnsafeMutablePointer<uv_write_t>
    private var pieces: [SharedBytes] = []
    /// The index of the first piece that is in flight or unsent; the pieces before it were sent.
    private var head = 0
    /// How many sent pieces `pieces` may contain before all of them are removed at once.
    private static let maxSentPieces = 64
    /// The number of bytes of the first piece that were sent before it was queued.
    private var firstOffset = 0
    /// The number of pieces in the request in progress.
    private var inFlightCount = 0
    /// The number of bytes in the request in progress, when it began.
    private var inFlightBytes = 0
    /// The number of bytes of finished requests.
    private var sentBytes = 0
    private var progress: OutputProgress

    /// The maximum number of pieces per request.
    ///
    /// The number is small, because a request cannot be cancelled: `dropUnsent()` must keep the pieces of a request in
    /// progress.
    private static let maxPiecesPerRequest = 16
    /// The maximum number of queued pieces, so that many tiny pieces cannot fill the memory.
    private static let maxPieces = 16_384
    /// The memory that a queue takes for each piece besides the piece, in bytes.
    private static let entryBytes = 16

    init(loop: EventLoop) {
        self.loop = loop
        self.progress = OutputProgress(at: loop.now)
        unsafe self.request = .allocate(capacity: 1)
        loop.outputBudget.addQueue()
    }

    deinit {
        self.removeFromBudget(self.head..<self.pieces.count)
        self.loop.outputBudget.removeQueue()
        unsafe self.request.deallocate()
    }

    /// Whether the queue accepts no further piece.
    var isFull: Bool { self.pieces.count - self.head >= Self.maxPieces }

    /// The memory that counts for this queue, in bytes.
    ///
    /// If several queues share a piece, each of them counts an equal part of its size.
    var heldBytes: Int { self.pieces[self.head...].reduce(0) { $0 + $1.bytesPerQueue + Self.entryBytes } }

    /// Appends a piece whose first `sentCount` bytes were already sent; 0 for each piece after the first one.
    func append(_ piece: SharedBytes, sentCount: Int) {
        if sentCount > 0 { self.firstOffset = sentCount }
        self.pieces.append(piece)
        self.byteCount += piece.count - sentCount
        if !piece.isShared { self.ownBytes += piece.memoryBytes }
        self.loop.outputBudget.add(piece.enterQueue() + Self.entryBytes)
    }

    /// Begins a libuv write request for the first pieces.
    ///
    /// - Returns: libuv's status code.
    func send(on stream: UnsafeMutablePointer<uv_stream_t>, _ callback: uv_write_cb) -> Int32 {
        let count = min(self.pieces.count - self.head, Self.maxPiecesPerRequest)
        self.inFlightCount = count
        // The bytes of the first piece that were sent before it was queued are not in flight, so they are subtracted.
        self.inFlightBytes = self.pieces[self.head..<self.head + count].reduce(-self.firstOffset) { $0 + $1.count }
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
        let sent = self.head..<self.head + self.inFlightCount
        self.byteCount -= self.inFlightBytes
        self.sentBytes += self.inFlightBytes
        self.removeFromBudget(sent)
        // The sent pieces are freed now. The array is shortened only once in a while, because this moves its other
        // elements.
        for index in sent { self.pieces[index] = self.loop.noBytes }
        self.firstOffset = 0
        self.head = sent.upperBound
        self.inFlightCount = 0
        self.inFlightBytes = 0
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
        self.removeFromBudget(firstUnsent..<self.pieces.count)
        self.pieces.removeSubrange(firstUnsent...)
        self.byteCount -= droppedBytes
        return droppedBytes
    }

    /// Checks whether the peer has taken none of the queued bytes for the timeout; see `OutputProgress`.
    ///
    /// - Parameters:
    ///   - unsentBytes: The bytes of the request in progress that the system has not accepted.
    ///   - unacknowledgedBytes: The bytes that the system has accepted and the peer has not acknowledged.
    ///   - timeout: How long the peer may take no byte.
    /// - Returns: True if two checks in a row have found that the peer has taken no byte for `timeout`.
    func checkStalled(
        unsentBytes: Int, unacknowledgedBytes: @autoclosure () -> Int, timeout: Milliseconds
    ) -> Bool {
        self.progress.checkStalled(
            acceptedBytes: self.sentBytes + self.inFlightBytes - unsentBytes,
            unacknowledgedBytes: unacknowledgedBytes(), at: self.loop.now, timeout: timeout)
    }

    /// Removes pieces from the loop's budget, before they are removed from the queue.
    private func removeFromBudget(_ range: Range<Int>) {
        for piece in self.pieces[range] {
            if !piece.isShared { self.ownBytes -= piece.memoryBytes }
            self.loop.outputBudget.remove(piece.leaveQueue() + Self.entryBytes)
        }
    }
}
