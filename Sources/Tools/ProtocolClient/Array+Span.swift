// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Copies the bytes of a span, so that they outlive the function that got the span.
    init(copying bytes: Span<UInt8>) {
        self = []
        self.reserveCapacity(bytes.count)
        for index in bytes.indices { self.append(bytes[index]) }
    }
}
