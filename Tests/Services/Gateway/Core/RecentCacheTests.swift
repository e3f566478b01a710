// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import Testing

@Suite struct RecentCacheTests {
    @Test func `I16 a cache keeps the entries in use, drops others, and never holds more than its capacity`() {
        var cache = RecentCache<Int, String>(capacity: 10)
        cache.store("in use", for: -1)
        for key in 0..<100 {
            cache.store("\(key)", for: key)
            #expect(cache.value(of: -1) == "in use" && cache.value(of: key) == "\(key)")
            #expect(cache.count <= 10)
        }
        #expect(cache.value(of: 0) == nil && cache.value(of: 90) == nil, "these were not used for ten entries")
    }

    @Test func `a value that is stored again replaces the earlier one, in both generations`() {
        var cache = RecentCache<Int, String>(capacity: 2)
        cache.store("a", for: 1)
        cache.store("b", for: 1)
        #expect(cache.value(of: 1) == "b" && cache.count == 1)
        // The second key makes the first one an older entry.
        cache.store("c", for: 2)
        cache.store("d", for: 1)
        #expect(cache.value(of: 1) == "d" && cache.count <= 2)
    }
}
