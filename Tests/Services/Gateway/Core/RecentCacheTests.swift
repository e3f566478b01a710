// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import Testing

/// A cache with room for `capacity` entries: a younger and an older generation, each with half of the entries.
///
/// When the younger generation is full, it becomes the older one, and the older one is dropped. An entry that is used
/// moves to the younger generation.
@Suite struct RecentCacheTests {
    /// Returns the keys that the cache has; looks them up in copies, because each look-up changes a cache.
    private func keys(_ keys: ClosedRange<Int>, in cache: RecentCache<Int, String>) -> [Int] {
        keys.filter { key in
            var copy = cache
            return copy.value(of: key) != nil
        }
    }

    @Test func `I16 a cache keeps the entries in use, drops others, and never holds more than its capacity`() {
        var cache = RecentCache<Int, String>(capacity: 10)
        cache.store("in use", for: -1)
        for key in 0..<100 {
            cache.store("\(key)", for: key)
            #expect(cache.value(of: -1) == "in use" && cache.value(of: key) == "\(key)")
            #expect(self.keys(-1...99, in: cache).count <= 10)
        }
        #expect(
            cache.value(of: 0) == nil && cache.value(of: 90) == nil,
            "neither was used while the last nine entries were stored")
    }

    @Test func `a value that is stored again replaces the earlier one, in both generations`() {
        var cache = RecentCache<Int, String>(capacity: 2)
        cache.store("a", for: 1)
        cache.store("b", for: 1)
        #expect(cache.value(of: 1) == "b" && self.keys(1...2, in: cache) == [1])
        // A generation has room for one entry, so key 2 moves key 1 to the older generation.
        cache.store("c", for: 2)
        cache.store("d", for: 1)
        #expect(cache.value(of: 1) == "d" && self.keys(1...2, in: cache).count <= 2)
    }
}
