// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Caches the names of topics as Swift strings, so that a record's topic costs a comparison instead of an allocation.
struct TopicNames {
    /// The maximum number of names; a further name clears the cache first.
    private static let maxNames = 64
    private var names: [String] = []
    /// The index of the name that was returned last.
    private var lastIndex = 0

    /// The Swift string of a topic's C string.
    mutating func name(_ text: UnsafePointer<CChar>) -> String {
        if self.lastIndex < self.names.count, unsafe Self.isSame(self.names[self.lastIndex], text) {
            return self.names[self.lastIndex]
        }
        for index in self.names.indices where unsafe Self.isSame(self.names[index], text) {
            self.lastIndex = index
            return self.names[index]
        }
        if self.names.count == Self.maxNames { self.names.removeAll(keepingCapacity: true) }
        self.lastIndex = self.names.count
        unsafe self.names.append(String(cString: text))
        return self.names[self.lastIndex]
    }

    private static func isSame(_ name: String, _ text: UnsafePointer<CChar>) -> Bool {
        unsafe name.withCString { unsafe strcmp($0, text) == 0 }
    }
}
