// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The partitions, configurations and keys of topics.
@Suite struct TopicTests {
    @Test(arguments: [
        ("demo/show", 12, 5), ("demo/alice", 12, 0), ("demo", 12, 11), ("", 12, 6), ("demo/ö", 12, 1),
        ("demo/show", 5, 2), ("demo/ö", 5, 2), ("demo/show", 1, 0),
    ]) func `a key's partition is the same for every writer, for ever`(key: String, count: Int, partition: Int) {
        #expect(PlazaTopic.partition(of: key, among: count) == partition)
    }

    @Test(arguments: [2, 3, 4, 12, 16, 24, 100]) func `consecutive keys are spread evenly over the partitions`(
        count: Int
    ) {
        var keyCounts = [Int](repeating: 0, count: count)
        let keys = 1000 * count
        for number in 0..<keys { keyCounts[PlazaTopic.partition(of: "demo/live-\(number)", among: count)] += 1 }
        // Random keys have a standard deviation of about 32 around 1000; the range has five deviations to each side.
        #expect(keyCounts.allSatisfy { (840...1160).contains($0) }, "\(keyCounts)")
    }

    @Test func `a partition is always in range`() {
        for count in [0, 1, 7] { #expect(PlazaTopic.partition(of: "x", among: count) < max(1, count)) }
    }

    @Test func `state and table topics are compacted, all others expire`() {
        for topic in PlazaTopic.allCases {
            let isTable =
                topic.rawValue.hasSuffix(".state") || [.rooms, .stages, .audienceCounts, .apps].contains(topic)
            #expect((topic.retention == .compacted) == isTable)
            #expect(topic.configuration["cleanup.policy"] == (isTable ? "compact" : "delete"))
            #expect(topic.configuration["message.timestamp.type"] == "LogAppendTime")
            #expect(topic.configuration["max.message.bytes"] == "1048576")
        }
    }

    @Test func `a directory command has the key of its owner or its live, which decides its order`() {
        let caller = Caller(
            user: UserInfo(userID: "alice"), role: .user, request: RequestID(session: "s", counter: 1), replyTo: "g")
        func key(_ command: DirectoryCommand) -> String { DirectoryInput(app: "demo", command).keyText }
        let changes = LiveChanges()
        // Creations and releases are ordered for each owner, all other commands for each live.
        let byOwner: [DirectoryCommand] = [
            .create(live: "show", changes: changes, owner: caller.user, caller: caller),
            .release(owner: "alice", live: "show", thenReply: nil),
        ]
        let byLive: [DirectoryCommand] = [
            .open(live: "show", changes: changes, owner: caller.user, caller: caller),
            .repeatOpen(live: "show", caller: caller), .updateInfo(live: "show", changes: changes, caller: caller),
            .setMetadata(live: "show", values: [:], caller: caller),
            .deleteMetadata(live: "show", keys: [], caller: caller),
            .setAdmin(live: "show", user: "bob", caller: caller),
            .adminMembershipVerified(live: "show", user: "bob", caller: caller),
            .revokeAdmin(live: "show", user: "bob", caller: caller), .kick(live: "show", user: "bob", caller: caller),
            .end(live: "show", caller: caller), .floor(live: "show", user: "bob", ticket: Ticket(1)),
        ]
        for command in byOwner { #expect(key(command) == "demo/alice") }
        for command in byLive { #expect(key(command) == "demo/show") }
        #expect(key(.appSettings(change: .addWords(words: ["bad"]), caller: caller)) == "demo")
    }
}
