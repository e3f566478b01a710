// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaKit
import LivePlazaTesting
import Synchronization
import Testing

/// What a user's stores show when the user's connection is cut once, at any frame of a session.
///
/// All tests play the same session in the live `eve`: the user sends messages, likes, and sits on a seat. At the end,
/// the user's stores must equal those of a witness, who is in the live from the beginning and is never cut off, and
/// those of a newcomer, who enters at the end.
struct SimulatedCutTests {
    /// How many frames are delivered before the cut, in both directions together.
    ///
    /// The session has fewer frames than the largest number, so the last sessions are not cut.
    private static let frameCountsBeforeCut = 0..<60

    @Test(arguments: Self.frameCountsBeforeCut)
    func `I7 I15 after a cut at any frame the user's stores equal those of a witness and a newcomer`(
        frameCount: Int
    ) throws {
        let cluster = SimulatedCluster(seed: UInt64(frameCount) + 1)
        let host = try cluster.user("host", userName: "Host")
        try host.createLive("eve", name: "Evening")
        let witness = try Self.enter("witness", cluster)
        cluster.cutConnection(of: "user", afterFrames: frameCount)
        let user = try Self.enter("user", cluster)
        let failures = Failures()
        let barrage = user.barrageStore(liveID: "eve")
        let (seats, coGuests) = (user.seatStore(liveID: "eve"), user.coGuestStore(liveID: "eve"))

        barrage.sendTextMessage(text: "one", extensionInfo: nil, completion: failures.record("one"))
        try host.say("from the host", in: "eve")
        Self.passTime(cluster)
        user.likeStore(liveID: "eve").sendLike(count: 2, completion: failures.record("like"))
        coGuests.applyForSeat(seatIndex: -1, timeout: 60, extraInfo: nil, completion: failures.record("apply"))
        Self.passTime(cluster)
        try host.answerApplication(of: "user", accept: true, in: "eve")
        Self.passTime(cluster)
        seats.reportSpeaking(level: 30, completion: failures.record("speaking"))
        barrage.sendTextMessage(text: "two", extensionInfo: nil, completion: failures.record("two"))
        Self.passTime(cluster)
        seats.leaveSeat(completion: failures.record("leave seat"))
        try host.like(5, in: "eve")
        Self.passTime(cluster)

        #expect(failures.all == [], "expected that every call succeeds")
        let newcomer = try Self.enter("newcomer", cluster)
        Self.passTime(cluster)
        var (userSnapshot, witnessSnapshot) = (StoreStates(user, "eve"), StoreStates(witness, "eve"))
        // The order may differ: a message that the user must send again may come after the host's message.
        #expect(userSnapshot.messages.count == 3 && Set(userSnapshot.messages) == ["one", "from the host", "two"])
        userSnapshot.clearUserSpecificStates(hasSimulatedTime: true)
        witnessSnapshot.clearUserSpecificStates(hasSimulatedTime: true)
        #expect(userSnapshot.differences(from: witnessSnapshot) == [])
        // The newcomer has no messages from before the join, so messages are not compared.
        var newcomerSnapshot = StoreStates(newcomer, "eve")
        newcomerSnapshot.clearUserSpecificStates(hasSimulatedTime: true)
        (userSnapshot.messages, witnessSnapshot.messages, newcomerSnapshot.messages) = ([], [], [])
        #expect(userSnapshot.differences(from: newcomerSnapshot) == [])
    }

    /// Advances the time by more than a client needs to reconnect and to send its calls again.
    private static func passTime(_ cluster: SimulatedCluster) { cluster.advance(by: .seconds(12)) }

    /// Makes a client with stores, which logs in and enters the live.
    private static func enter(_ name: String, _ cluster: SimulatedCluster) throws -> LivePlaza {
        let plaza = cluster.client(name)
        let failures = Failures()
        plaza.loginStore.login(
            sdkAppID: 1, userID: name, userSig: cluster.token(name), completion: failures.record("login"))
        Self.passTime(cluster)
        let hasEntered = Mutex(false)
        plaza.liveListStore.joinLive(liveID: "eve") { result in
            if case .success = result { hasEntered.withLock { $0 = true } }
        }
        Self.passTime(cluster)
        #expect(failures.all == [], "expected that the login succeeds")
        #expect(hasEntered.withLock { $0 })
        return plaza
    }
}

/// The calls that have failed or have not ended.
final class Failures: Sendable {
    /// The names of the calls that have not ended.
    private let unanswered = Mutex<Set<String>>([])
    /// The names of the failed calls, with their errors.
    private let failedCalls = Mutex<[String]>([])

    /// Records that a call is made, and returns the completion of the call, which records its end or its failure.
    func record(_ name: String) -> CompletionClosure {
        self.unanswered.withLock { _ = $0.insert(name) }
        return { result in
            self.unanswered.withLock { _ = $0.remove(name) }
            if case .failure(let error) = result { self.failedCalls.withLock { $0.append("\(name): \(error)") } }
        }
    }

    /// The calls that have failed, with their errors, and those that have not ended.
    var all: [String] { self.failedCalls.withLock { $0 } + self.unanswered.withLock { $0.map { "\($0): no answer" } } }
}
