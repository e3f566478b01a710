// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing

/// Tests of `SharedBytes`: immutable bytes that the queues of several streams can hold without a copy.
@Suite struct SharedBytesTests {
    @Test func `shared bytes contain what was written`() {
        let bytes = SharedBytes(capacity: 10) { output in
            output.append(1)
            output.append(contentsOf: [2, 3, 4, 5])
        }
        #expect(bytes.count == 5)
        #expect(bytes.array == [1, 2, 3, 4, 5])
        #expect(bytes.withSpan { $0[4] } == 5)
        #expect(SharedBytes("").array.isEmpty)
    }

    @Test func `an error of the closure that writes the bytes is thrown to the caller`() {
        struct WriteError: Error, Equatable {}
        #expect(throws: WriteError()) {
            try SharedBytes(capacity: 4) { output in
                output.append(1)
                throw WriteError()
            }
        }
    }
}
