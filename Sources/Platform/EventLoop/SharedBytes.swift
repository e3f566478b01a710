// SPDX-License-Identifier: Apache-2.0

/// Bytes that are filled once, at creation, and then shared by all TCP connections that send them.
///
/// A frame for all viewers of a live is one `SharedBytes`: each of the connections that queue the frame holds a
/// reference, not a copy.
///
/// It is `@unchecked Sendable` because the memory is not changed after `init`, and because only the event loop on which
/// the bytes were made uses `queueCount`.
@safe package final class SharedBytes: @unchecked Sendable {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes.
    package let count: Int
    /// Whether many streams of one loop queue the bytes.
    ///
    /// Then the memory counts only once in the loop's `OutputBudget`, which limits what all its streams queue.
    let isShared: Bool
    /// The number of queues that hold the bytes, if they are shared.
    private var queueCount = 0

    /// Allocates `capacity` bytes and calls `fill`, which writes that many bytes or fewer.
    ///
    /// - Parameters:
    ///   - capacity: The number of bytes to allocate.
    ///   - isShared: Whether many streams send the bytes. All of them must be on the calling loop.
    ///   - fill: Writes the bytes.
    /// - Throws: The error of `fill`.
    package init<E: Error>(
        capacity: Int, isShared: Bool = false, _ fill: (inout OutputSpan<UInt8>) throws(E) -> Void
    ) throws(E) {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(capacity, 1))
        var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
        do throws(E) {
            try fill(&output)
        } catch {
            unsafe memory.deallocate()
            throw error
        }
        self.count = unsafe output.finalize(for: memory)
        self.isShared = isShared
        unsafe self.memory = memory
    }

    /// Copies `bytes`.
    package convenience init(_ bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in output.append(contentsOf: bytes) }
    }

    /// Copies `bytes`.
    package convenience init(_ bytes: [UInt8]) { self.init(bytes.span) }

    /// Copies the UTF-8 of `text`.
    package convenience init(_ text: String) { self.init(Array(text.utf8)) }

    deinit { unsafe self.memory.deallocate() }

    /// Calls `body` with the bytes, which are valid only during the call.
    ///
    /// - Throws: The error of `body`.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe UnsafeBufferPointer(start: self.memory.baseAddress, count: self.count).span)
    }

    /// A copy of the bytes.
    package var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: self.memory.baseAddress, count: self.count))
    }

    /// The address of the first byte; valid as long as this object lives.
    var baseAddress: UnsafeMutablePointer<UInt8>? { unsafe self.memory.baseAddress }

    /// The approximate size in bytes of this object, and of the allocator's headers for the object and for its bytes.
    private static let overheadBytes = 80

    /// The size of the occupied memory, including the overhead.
    var memoryBytes: Int { self.count + Self.overheadBytes }

    /// The part of the memory that counts for each queue that holds these bytes; all queues count the same part.
    var bytesPerQueue: Int { self.memoryBytes / max(1, self.queueCount) }

    /// Counts a queue that begins to hold the bytes.
    ///
    /// - Returns: The memory that no queue held before.
    func enterQueue() -> Int {
        guard self.isShared else { return self.memoryBytes }
        self.queueCount += 1
        return self.queueCount == 1 ? self.memoryBytes : 0
    }

    /// Removes a queue that holds the bytes no longer.
    ///
    /// - Returns: The memory that no queue holds any more.
    func leaveQueue() -> Int {
        guard self.isShared else { return self.memoryBytes }
        self.queueCount -= 1
        return self.queueCount == 0 ? self.memoryBytes : 0
    }
}

extension OutputSpan<UInt8> {
    /// Appends a copy of `bytes`.
    ///
    /// - Precondition: There is room for them.
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        precondition(bytes.count <= self.freeCapacity, "no room for \(bytes.count) bytes in \(self.freeCapacity)")
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe self.withUnsafeMutableBufferPointer { target, count in
                _ = unsafe UnsafeMutableBufferPointer(rebasing: target[count...]).initialize(from: source)
                count += bytes.count
            }
        }
    }

    /// Appends a copy of `bytes`.
    ///
    /// - Precondition: There is room for them.
    package mutating func append(contentsOf bytes: [UInt8]) { self.append(contentsOf: bytes.span) }
}
