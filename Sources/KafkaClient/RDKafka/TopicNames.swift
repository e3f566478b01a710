// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Remembers the Swift string of each topic, so that a record's topic costs a comparison and no allocation.
struct TopicNames {
    private static let limit = 64
    private var names: [String] = []
    private var last = 0

    mutating func name(_ text: UnsafePointer<CChar>) -> String {
        if self.last < self.names.count, unsafe Self.isSame(self.names[self.last], text) {
            return self.names[self.last]
        }
        for index in self.names.indices where unsafe Self.isSame(self.names[index], text) {
            self.last = index
            return self.names[index]
        }
        if self.names.count == Self.limit { self.names.removeAll(keepingCapacity: true) }
        self.last = self.names.count
        unsafe self.names.append(String(cString: text))
        return self.names[self.last]
    }

    private static func isSame(_ name: String, _ text: UnsafePointer<CChar>) -> Bool {
        unsafe name.withCString { unsafe strcmp($0, text) == 0 }
    }
}
