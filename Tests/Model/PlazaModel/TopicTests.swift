// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The partitions, configurations and keys of topics.
@Suite struct TopicTests {
    // A key, a number of partitions, and the key's partition, about which all processes must agree.
    @Test(arguments: [
        ("demo/show", 12, 5), ("demo/alice", 12, 0), ("demo", 12, 11), ("", 12, 6), ("demo/ö", 12, 1),
        ("demo/show", 5, 2), ("demo/ö", 5, 2), ("demo/show", 1, 0),
    ]) func `a key's partition is the same in every version`(key: String, count: Int, partition: Int) {
        #expect(PlazaTopic.partition(of: key, among: count) == partition)
    }

    @Test(arguments: [2, 3, 4, 12, 16, 24, 100]) func `numbered keys are spread evenly over the partitions`(
        count: Int
    ) {
        var keysInPartition = [Int](repeating: 0, count: count)
        let keyCount = 1000 * count
        for number in 0..<keyCount {
            let partition = PlazaTopic.partition(of: "demo/live-\(number)", among: count)
            keysInPartition[partition] += 1
        }
        // Random keys have a standard deviation of about 32 around 1000; the range has five deviations to each side.
        #expect(keysInPartition.allSatisfy { (840...1160).contains($0) }, "\(keysInPartition)")
    }

    @Test func `a partition is always in range`() {
        // A count of 0 is treated as 1.
        for count in [0, 1, 7] { #expect(PlazaTopic.partition(of: "x", among: count) < max(1, count)) }
    }

    @Test func `state topics and topics of public records are compacted, and the records of other topics expire`() {
        for topic in PlazaTopic.allCases {
            let isCompacted =
                topic.rawValue.hasSuffix(".state") || [.rooms, .stages, .audienceCounts, .apps].contains(topic)
            #expect((topic.retention == .compacted) == isCompacted)
            #expect(topic.configuration["cleanup.policy"] == (isCompacted ? "compact" : "delete"))
            #expect(topic.configuration["message.timestamp.type"] == "LogAppendTime")
            #expect(topic.configuration["max.message.bytes"] == "1048576")
        }
    }

    @Test func `a directory command has the key of an owner, a live or an app, by which it is ordered`() {
        let caller = Caller(
            user: UserInfo(userID: "alice"), role: .user, request: RequestID(session: "s", counter: 1), replyTo: "g")
        func key(_ command: DirectoryCommand) -> String { DirectoryInput(app: "demo", command).keyText }
        let changes = LiveChanges()
        // Creations and releases are ordered for each owner, changes of settings for each app, and all other commands
        // for each live.
        let commandsByOwner: [DirectoryCommand] = [
            .create(live: "show", changes: changes, owner: caller.user, caller: caller),
            .release(owner: "alice", live: "show", thenReply: nil),
        ]
        let commandsByLive: [DirectoryCommand] = [
            .open(live: "show", changes: changes, owner: caller.user, caller: caller),
            .repeatOpen(live: "show", caller: caller), .updateInfo(live: "show", changes: changes, caller: caller),
            .setMetadata(live: "show", values: [:], caller: caller),
            .deleteMetadata(live: "show", keys: [], caller: caller),
            .setAdmin(live: "show", user: "bob", caller: caller),
            .adminMembershipVerified(live: "show", user: "bob", caller: caller),
            .revokeAdmin(live: "show", user: "bob", caller: caller), .kick(live: "show", user: "bob", caller: caller),
            .end(live: "show", caller: caller), .floor(live: "show", user: "bob", ticket: Ticket(1)),
        ]
        for command in commandsByOwner { #expect(key(command) == "demo/alice") }
        for command in commandsByLive { #expect(key(command) == "demo/show") }
        #expect(key(.appSettings(change: .addWords(words: ["bad"]), caller: caller)) == "demo")
    }
}
