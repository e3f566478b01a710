// SPDX-License-Identifier: Apache-2.0
import DirectoryCore
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

/// The sizes of the directory's rows and records for the largest live and the largest app settings.
@Suite struct DirectorySizeTests {
    /// Sends a command, and each command that the directory then sends to itself; requires that none is rejected.
    private func send(
        _ command: DirectoryCommand, to directory: inout SizeHarness<DirectoryMachine>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var pending = [command]
        while !pending.isEmpty {
            let effects = directory.send(DirectoryInput(app: Largest.app, pending.removeFirst()))
            #expect(effects.rejections == [], sourceLocation: sourceLocation)
            for case .directory(let input, _) in effects { pending.append(input.command) }
        }
    }

    /// Rules: R17.2, R17.6, R17.8.
    @Test func `I16 every row and record of the largest live is smaller than half of the broker's largest record`() {
        let live = Largest.live
        var directory = SizeHarness(DirectoryMachine(policies: Largest.policies))
        // The request counters have as many digits as possible.
        var counter: Int64 = Largest.offset
        /// The caller of the owner's next call.
        func nextOwnerCall() -> Caller {
            counter += 1
            return Largest.caller(0, counter: counter)
        }
        self.send(
            .create(live: live, changes: Largest.changes, owner: Largest.profile(0), caller: nextOwnerCall()),
            to: &directory)
        self.send(.setMetadata(live: live, values: Largest.metadata, caller: nextOwnerCall()), to: &directory)
        for index in 1...Largest.policy.maxAdmins {
            let caller = nextOwnerCall()
            self.send(.setAdmin(live: live, user: Largest.user(index), caller: caller), to: &directory)
            // Presence answers that the user is in the live.
            self.send(.adminMembershipVerified(live: live, user: Largest.user(index), caller: caller), to: &directory)
        }
        // One floor (the lowest valid ticket of a user) more than the limit, so that the directory removes the oldest
        // one.
        for index in 0...Limits.floorsPerLive {
            let ticket = Ticket(Largest.offset + Int64(index))
            self.send(.floor(live: live, user: Largest.user(1000 + index), ticket: ticket), to: &directory)
        }
        // The limit of a reason counts its bytes in JSON, where each quotation mark takes two.
        let reason = Largest.quotationMarks(bytes: SanctionLimits.reasonBytes / 2)
        let tenYearsInSeconds: Int64 = 10 * 365 * 86_400
        // A call may ban or mute 20 users, so 50 calls make the 1000 bans and 1000 mutes of the limit.
        for group in 0..<50 {
            let userIndices = (0..<20).map { 1000 + group * 20 + $0 }
            let users = userIndices.map { Largest.user($0) }
            self.send(
                .ban(
                    live: live, users: users, durationSeconds: tenYearsInSeconds, reason: reason,
                    caller: nextOwnerCall()), to: &directory)
            self.send(
                .mute(live: live, users: users, durationSeconds: tenYearsInSeconds, caller: nextOwnerCall()),
                to: &directory)
            for index in userIndices { self.send(.profile(live: live, user: Largest.profile(index)), to: &directory) }
        }
        // The 1000 bans fill 20 rows of 50, and so do the 1000 mutes.
        #expect(directory.partition.rowCount(of: "bans") == 20 && directory.partition.rowCount(of: "mutes") == 20)
        self.send(
            .bans(live: live, offset: 0, count: SanctionLimits.entriesPerPage, caller: nextOwnerCall()), to: &directory)
        for _ in 0..<IdempotencyLimits.maxOutcomes {
            self.send(.updateInfo(live: live, changes: Largest.changes, caller: nextOwnerCall()), to: &directory)
        }
        // The sizes of the rows are noted now, because the end of the live deletes the rows.
        directory.noteRows()
        self.send(.end(live: live, caller: nextOwnerCall()), to: &directory)
        #expect(directory.partition.rowCount(of: "bans") == 0 && directory.partition.rowCount(of: "mutes") == 0)
        directory.sizes.expectBounded(minKilobytes: [
            "row room": 90, "row roomCalls": 60, "row bans": 30, "row mutes": 20, "rooms": 30, "barrage.inbox": 30,
            "replies": 60, "seat.inbox": 30,
        ])
    }

    /// Rules: R17.7.
    @Test func `I16 an app's words and gifts are smaller than half of the broker's largest record`() {
        var directory = SizeHarness(DirectoryMachine(policies: Largest.policies))
        /// Lets the app's server change the settings; returns the code of the rejection, if there is one.
        func rejections(of change: AppSettingsChange, counter: Int64) -> [ReplyCode] {
            let caller = Largest.server(counter: counter)
            let command = DirectoryCommand.appSettings(change: change, caller: caller)
            return directory.send(DirectoryInput(app: Largest.app, command)).rejections
        }
        #expect(rejections(of: .setWords(words: Largest.settings.words), counter: 1) == [])
        /// A catalogue with the maximum number of gifts and languages, and a text of this length for each gift.
        func catalogue(extensionInfoBytes: Int) -> [GiftCategory] {
            let languages = (0..<AppLimits.languages).map { Largest.word($0, bytes: AppLimits.languageBytes) }
            return (0..<AppLimits.categories).map { number in
                GiftCategory(
                    categoryID: GiftCategoryID(Largest.word(number, bytes: 32)), name: "n",
                    gifts: (0..<AppLimits.gifts / AppLimits.categories).map { index in
                        Gift(
                            giftID: GiftID(Largest.word(number * 100 + index, bytes: 32)), name: "n", level: 1000,
                            coins: 1_000_000_000, extensionInfo: Largest.quotationMarks(bytes: extensionInfoBytes),
                            translations: Dictionary(
                                uniqueKeysWithValues: languages.map { ($0, GiftText(name: "n")) }))
                    })
            }
        }
        // The catalogue is sent with longer and longer texts. Up to some length it is accepted, from there on rejected.
        let textLengths = Array(stride(from: 0, to: 200, by: 8))
        let acceptedLengths = textLengths.filter {
            rejections(of: .setGifts(categories: catalogue(extensionInfoBytes: $0)), counter: Int64(2 + $0)) == []
        }
        #expect(!acceptedLengths.isEmpty && acceptedLengths.count < textLengths.count)
        #expect(acceptedLengths == Array(textLengths.prefix(acceptedLengths.count)))
        // Without translations, the catalogue has space for longer texts.
        var withoutTranslations = catalogue(extensionInfoBytes: 230)
        for category in withoutTranslations.indices {
            for gift in withoutTranslations[category].gifts.indices {
                withoutTranslations[category].gifts[gift].translations = [:]
            }
        }
        #expect(rejections(of: .setGifts(categories: withoutTranslations), counter: 1000) == [])
        // 500 texts of 450 quotation marks have 225,000 bytes, which is below the limit of 256 KB for all texts. But
        // each quotation mark takes two bytes in JSON, and 450,000 bytes are above the limit of 416 KB for the JSON.
        for category in withoutTranslations.indices {
            for gift in withoutTranslations[category].gifts.indices {
                withoutTranslations[category].gifts[gift].extensionInfo = Largest.quotationMarks(bytes: 450)
            }
        }
        #expect(rejections(of: .setGifts(categories: withoutTranslations), counter: 1001) == [.overLimit])
        directory.noteRows()
        directory.sizes.expectBounded(minKilobytes: ["row app": 350, "apps": 350])
    }

    /// Rules: R17.8.
    @Test func `I15 a repeated update gets its first reply, except that the metadata is the current one`() throws {
        // A recorded outcome does not contain the metadata, so that the row of outcomes stays small.
        let live = Largest.live
        var directory = SizeHarness(DirectoryMachine(policies: Largest.policies))
        self.send(
            .create(
                live: live, changes: LiveChanges(), owner: Largest.profile(0), caller: Largest.caller(0, counter: 1)),
            to: &directory)
        self.send(.setMetadata(live: live, values: ["a": "1"], caller: Largest.caller(0, counter: 2)), to: &directory)
        let update = DirectoryInput(
            app: Largest.app,
            .updateInfo(live: live, changes: LiveChanges(notice: "x"), caller: Largest.caller(0, counter: 3)))
        /// The live's info in the reply.
        func info(_ effects: [Effect]) -> LiveInfo? {
            guard case .reply(let reply)? = effects.last, case .success(.live(let info, _, _, _)) = reply.outcome else {
                return nil
            }
            return info
        }
        let firstInfo = try #require(info(directory.send(update)))
        #expect(firstInfo.notice == "x" && firstInfo.metaData == ["a": "1"])
        #expect(info(directory.send(update)) == firstInfo)
        // Between the first call and its second repetition, the metadata changes.
        self.send(.setMetadata(live: live, values: ["a": "2"], caller: Largest.caller(0, counter: 4)), to: &directory)
        var withCurrentMetadata = firstInfo
        withCurrentMetadata.metaData = ["a": "2"]
        #expect(info(directory.send(update)) == withCurrentMetadata)
    }
}
