// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import Testing

/// The count of distinct texts: exact for few texts, estimated for many.
@Suite struct UniqueCountTests {
    @Test func `up to the exact limit, each text counts once, however often it is inserted`() {
        var count = UniqueCount()
        for round in 1...3 {
            for user in 0..<UniqueCount.exactLimit { count.insert("user-\(user)") }
            #expect(count.count == Int64(UniqueCount.exactLimit), "round \(round)")
        }
    }

    @Test(arguments: [600, 2_000, 20_000, 200_000])
    func `a larger count is estimated to within seven percent, and never decreases`(users: Int) {
        var count = UniqueCount()
        var previousCount: Int64 = 0
        for user in 0..<users {
            count.insert("viewer \(user)")
            #expect(count.count >= previousCount)
            previousCount = count.count
        }
        // The tolerance is three standard errors of 2.3 %.
        let error = abs(Double(count.count) - Double(users)) / Double(users)
        #expect(error < 0.07, "\(count.count) of \(users)")
        let countOfAll = count
        for user in 0..<min(users, 1_000) { count.insert("viewer \(user)") }
        #expect(count == countOfAll, "a user that is inserted again must not count again")
    }

    @Test func `I16 the JSON of a count is bounded, and a decoded count continues like the encoded count`() throws {
        var count = UniqueCount()
        for user in 0..<5_000 {
            count.insert("user-\(user)")
            // Counts around `exactLimit`, which is 512, and at the end are encoded.
            guard [1, 500, 512, 513, 4_999].contains(user) else { continue }
            let data = try JSONEncoder().encode(count)
            // The longest form is the list of 512 hashes, each with at most 20 digits and a comma: 512 * 21 = 10,752.
            #expect(data.count < 12_000)
            let decoded = try JSONDecoder().decode(UniqueCount.self, from: data)
            #expect(decoded == count)
            count = decoded
        }
        // In the first JSON, the hashes are not in ascending order. In the second JSON, the estimate has too few
        // registers.
        for invalidJSON in [#"{"count":1,"known":[2,1]}"#, #"{"count":1,"registers":"00"}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(UniqueCount.self, from: Data(invalidJSON.utf8))
            }
        }
    }

    @Test func `the hash of a text never changes, and 100,000 texts have different hashes`() {
        #expect(StableHash.of("") == 9_615_434_041_927_672_947)
        #expect(StableHash.of("user-1") == 6_777_903_942_506_558_093)
        var hashes: Set<UInt64> = []
        for number in 0..<100_000 { hashes.insert(StableHash.of("u\(number)")) }
        #expect(hashes.count == 100_000)
    }
}
