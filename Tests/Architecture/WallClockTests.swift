// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Tests that no decision depends on the clock of a host, because clocks of hosts differ, jump and go back.
///
/// Machines use the broker's time, and everything that waits uses the monotonic clock. `reasons` names each file that
/// reads the time of day, with the reason. Any other file that reads it fails the test.
@Suite struct WallClockTests {
    /// Why each file, by its path, may read the time of day.
    private static let reasons: [String: String] = [
        "Sources/Platform/Observability/WallClock.swift": "reads the time of day for the other files of this list",
        "Sources/Platform/Observability/ProcessMetrics.swift": "exports when the process began",
        "Sources/Platform/Observability/Tracer.swift": "the times of spans, for people",
        "Sources/Platform/Observability/Log.swift": "the time of a line, for people",
        "Sources/Services/Gateway/HTTP/PagesAPI.swift": "the expiry of a demo token, which the gateway signs",
        "Sources/Services/Gateway/Calls/VerifiedTokens.swift":
            "the expiry of a token whose signature was verified before",
        "Sources/Services/Gateway/Calls/AppTokenAuthenticator.swift":
            "a token's expiry is a time of day that the app's server chose, so nothing else can be compared with it",
        "Sources/Services/Gateway/Calls/ShardLogin.swift":
            "a token's expiry: at login it becomes a remaining time, which the monotonic clock then counts",
        "Sources/Services/Gateway/ReadModel/Gateway+Reads.swift":
            "the time for clients, webhook requests and sign-in notices; nothing is decided by it: machines use the "
            + "broker's time, and of two sign-ins the one with the larger Kafka offset is later",
        "Sources/Services/Gateway/Delivery/RecentOffsetFinder.swift":
            "where a reader begins: if a wrong clock makes the cache begin too late, what the cache lacks is replayed "
            + "by offset. With the in-memory broker both times come from the same clock",
        "Sources/Services/Runtime/Webhooks/WebhookDispatcher.swift":
            "the signature's time of day, by which a backend refuses old copies",
        "Sources/Services/Runtime/Webhooks/WebhookClient.swift":
            "the signature's time of day, by which a backend refuses old copies",
        "Sources/Client/LivePlazaCombine/Schedulers/RunLoop+Scheduler.swift":
            "a run loop's timers are set by date, so Combine's scheduler for run loops uses dates",
        "Sources/Client/LivePlazaCombine/Schedulers/OperationQueue+Scheduler.swift":
            "Combine's scheduler for operation queues measures time in dates",
        "Sources/Client/LivePlazaKit/Connection/PlazaClock.swift":
            "a token's expiry is a time of day; from the login on it is a remaining time, and a wrong clock only makes "
            + "the renewal early or late",
        "Sources/Tools/plaza/ChaosCommand.swift": "the expiry of a token that the tool signs",
        "Sources/Tools/plaza/ClusterAccess.swift": "the expiry of a token that the tool signs",
        "Sources/Tools/plaza/InspectCommand.swift": "the end of the window of records that is shown",
        "Sources/Tools/plaza/ScaleTestCommand.swift": "the expiry of a token that the tool signs",
        "Sources/Tools/ChaosKit/Workload/Witness.swift": "the times of a history, which people read beside logs",
        "Sources/Tools/LoadKit/LoadIncident.swift": "the time of an incident, which people read beside logs",
        "Sources/Tools/plaza/TokenCommand.swift": "the expiry of a token that the tool signs",
    ]

    /// Code that reads the time of day, in Swift and in C.
    private static let clockReads = [
        "WallClock.now", "WallClock.nanoseconds", "Date()", "Date.now", "Date(timeIntervalSinceNow",
        "SystemClock", "gettimeofday",
        "CLOCK_REALTIME", "time(nil)", "time(NULL)", "timespec_get", "CFAbsoluteTimeGetCurrent",
    ]

    private static func readsTimeOfDay(_ code: String) -> Bool { Self.clockReads.contains { code.contains($0) } }

    @Test func `each file that reads the time of day has an entry with its reason, and no other file has one`() {
        let readers = SourceTree.sources.filter { file in file.code.contains { Self.readsTimeOfDay($0.text) } }
        let readerPaths = Set(readers.map(\.path))
        #expect(readerPaths.count > 5, "most readers were not recognized")
        for path in readerPaths.subtracting(Self.reasons.keys).sorted() {
            Issue.record(
                "\(path) reads the time of day: use the broker's time or the monotonic clock, or give a reason")
        }
        for path in Set(Self.reasons.keys).subtracting(readerPaths).sorted() {
            Issue.record("\(path) reads no time of day any more: remove its entry from `reasons`")
        }
    }

    @Test func `no core reads any clock`() {
        let clocks = Self.clockReads + ["MonotonicClock", "ContinuousClock", "SuspendingClock", "clock_gettime"]
        for file in SourceTree.sources where file.path.contains("/Core/") || file.path.hasPrefix("Sources/Model/") {
            for line in file.code where clocks.contains(where: { line.text.contains($0) }) {
                Issue.record("\(file.path) reads a clock: \(line.text)")
            }
        }
    }
}
