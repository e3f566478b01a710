// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// A copy of bytes that are valid only during a call.
    init(copying bytes: Span<UInt8>) {
        self = []
        self.reserveCapacity(bytes.count)
        for index in bytes.indices { self.append(bytes[index]) }
    }
}
