// SPDX-License-Identifier: Apache-2.0

/// Bytes that are filled once, at creation, and then shared by all TCP connections that send them.
///
/// A frame for all viewers of a live is one `SharedBytes`: each of the thousand connections that queue the frame
/// holds a reference, not a copy.
///
/// `@unchecked Sendable`: the memory is not changed after `init`.
@safe package final class SharedBytes: @unchecked Sendable {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes.
    package let count: Int

    /// Allocates `capacity` bytes and calls `fill`, which writes that many bytes or fewer.
    package init<E: Error>(capacity: Int, _ fill: (inout OutputSpan<UInt8>) throws(E) -> Void) throws(E) {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(capacity, 1))
        var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
        do throws(E) {
            try fill(&output)
        } catch {
            unsafe memory.deallocate()
            throw error
        }
        self.count = unsafe output.finalize(for: memory)
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
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe UnsafeBufferPointer(start: self.memory.baseAddress, count: self.count).span)
    }

    /// A copy of the bytes.
    package var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: self.memory.baseAddress, count: self.count))
    }

    /// The address of the first byte; valid as long as this object lives.
    var baseAddress: UnsafeMutablePointer<UInt8>? { unsafe self.memory.baseAddress }
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

    /// Appends a copy of shared bytes.
    ///
    /// - Precondition: There is room for them.
    package mutating func append(contentsOf bytes: SharedBytes) {
        bytes.withSpan { span in self.append(contentsOf: span) }
    }

    /// Appends a copy of `bytes`.
    ///
    /// - Precondition: There is room for them.
    package mutating func append(contentsOf bytes: [UInt8]) { self.append(contentsOf: bytes.span) }
}
