// SPDX-License-Identifier: Apache-2.0
import FirstLiveSteps
import LivePlazaKit
import LivePlazaTesting
import Repository
import Testing

/// Tests that the guide docs/FIRST-LIVE.md shows the code of Examples/FirstLive, and that this code works.
@Suite struct FirstLiveTests {
    /// The lines of a text without indentation.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.drop { $0 == " " })
        }
    }

    /// The Swift code blocks of the guide.
    private static func blocks() throws -> [[String]] {
        var (blocks, currentBlock) = ([[String]](), [String]?.none)
        for line in Self.lines(try Repository.text("docs/FIRST-LIVE.md")) {
            if line == "```swift" {
                currentBlock = []
            } else if line.hasPrefix("```") {
                if let block = currentBlock { blocks.append(block) }
                currentBlock = nil
            } else {
                currentBlock?.append(line)
            }
        }
        return blocks
    }

    @Test func `each code block of the guide is a part of a file of the example`() throws {
        let files = try ["Steps/Steps.swift", "App/main.swift"].map {
            Self.lines(try Repository.text("Examples/FirstLive/\($0)"))
        }
        let blocks = try Self.blocks()
        #expect(blocks.count == 7)
        for block in blocks {
            let isInExample = files.contains { file in
                file.indices.contains { file[$0...].starts(with: block) }
            }
            #expect(isInExample, "\(block.joined(separator: "\n"))")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `in the guide's steps, a viewer writes to the host's live and gets a seat`() async throws {
        // `watch`, `goLive`, `giveSeats`, `showMessages` and `takePart` are the steps of the guide.
        let cluster = SimulatedCluster()
        let (host, viewer) = (cluster.client("alice"), cluster.client("bob"))
        for (plaza, user) in [(host, "alice"), (viewer, "bob")] {
            try await plaza.loginStore.login(
                sdkAppID: cluster.sdkAppID, userID: user, userSig: cluster.token(user))
        }
        #expect(try await watch(viewer) == nil)
        let live = try await goLive(host)
        // A list of lives is at most 5 s old, so after 5 s it has the new live.
        cluster.advance(by: .seconds(5))
        #expect(try await watch(viewer) == live)

        let (messages, continuation) = AsyncStream.makeStream(of: String.self)
        let hosting = Task {
            async let seats: Void = giveSeats(in: live, host)
            await showMessages(of: live, host) { continuation.yield($0) }
            await seats
        }
        defer { hosting.cancel() }
        try await takePart(in: live, viewer)
        cluster.advance(by: .seconds(1))
        #expect(await messages.first { _ in true } == "bob: hello")
        // The host's task accepts Bob's application on another thread.
        let guests = viewer.coGuestStore(liveID: live)
        while !guests.state.value.connected.contains(where: { $0.userID == "bob" }) {
            try await Task.sleep(for: .milliseconds(5))
            cluster.settle()
        }
        #expect(try await host.liveListStore.endLive().totalMessageCount == 1)
    }
}
