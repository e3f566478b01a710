// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import Testing

@testable import ServiceShell

/// Tests of `ProgressWatch`, with which a shell (the loop that consumes, decides and commits) finds stalled partitions.
///
/// A partition is stalled if it has had work for ten seconds, and none of this work has become durable (no batch was
/// committed). All times are in seconds.
@Suite struct ProgressWatchTests {
    private static let partition = TopicPartition("inbox", 1)
    private static let otherPartition = TopicPartition("inbox", 2)

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func `work without progress for ten seconds is a stall, and progress ends the stall`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        // A failed batch and further work do not restart the ten seconds.
        watch.workFailed(in: Self.partition)
        watch.workArrived(in: Self.partition, at: Self.at(105))
        #expect(!watch.isStalled(at: Self.at(109)))
        #expect(watch.isStalled(at: Self.at(110)))
        watch.workDone(in: Self.partition)
        #expect(!watch.isStalled(at: Self.at(200)))
    }

    @Test func `the progress of one partition does not hide the stall of another`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        for second: Int64 in 100..<110 {
            watch.workArrived(in: Self.otherPartition, at: Self.at(second))
            watch.workDone(in: Self.otherPartition)
        }
        #expect(watch.isStalled(at: Self.at(110)))
    }

    @Test func `the work of a partition that another member of the group owns is not a stall`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        watch.workArrived(in: Self.otherPartition, at: Self.at(105))
        // From now on, another member owns `partition`. The work of `otherPartition` has waited since 105 s.
        watch.partitionsAssigned([Self.otherPartition])
        #expect(!watch.isStalled(at: Self.at(114)))
        #expect(watch.isStalled(at: Self.at(115)))
        watch.partitionsAssigned([])
        #expect(!watch.isStalled(at: Self.at(1000)))
    }

    @Test func `a partition that cannot be read for ten seconds is stalled, until it was read to its end`() {
        var watch = ProgressWatch()
        watch.readFailed(in: Self.partition, at: Self.at(100))
        watch.readFailed(in: Self.partition, at: Self.at(109))
        #expect(watch.isStalled(at: Self.at(110)))
        #expect(watch.unreadablePartitions == [Self.partition])
        // Here `workDone` reports that the partition was read to its end.
        watch.workDone(in: Self.partition)
        #expect(!watch.isStalled(at: Self.at(110)))
        // Records arrive after a failed read. The partition is readable then, but its ten seconds still begin at 200 s.
        watch.readFailed(in: Self.partition, at: Self.at(200))
        watch.workArrived(in: Self.partition, at: Self.at(201))
        #expect(watch.unreadablePartitions.isEmpty)
        #expect(watch.isStalled(at: Self.at(210)))
    }

    @Test func `the work of former sessions can make the shell count as stalled, but not the current session`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        // The first failure leaves the pause at 50 ms, and the second failure doubles it.
        watch.workFailed(in: Self.partition)
        watch.workFailed(in: Self.partition)
        #expect(watch.retryPause == Milliseconds(100))
        #expect(watch.isSessionStalled(at: Self.at(110)))
        // The shell begins its next session.
        watch.sessionBegan()
        #expect(!watch.isSessionStalled(at: Self.at(200)), "the session has not found any work")
        #expect(watch.unreadablePartitions.isEmpty, "the session has not tried to read the partition")
        #expect(watch.retryPause == Milliseconds(50), "the failures of former sessions do not count")
        watch.readFailed(in: Self.partition, at: Self.at(200))
        #expect(watch.unreadablePartitions == [Self.partition])
        #expect(!watch.isSessionStalled(at: Self.at(209)))
        // For the shell the work has waited since 100 s, but for the current session only since 200 s.
        #expect(watch.isStalled(at: Self.at(209)))
        #expect(watch.waitingTime(at: Self.at(209)) == .seconds(209 - 100))
        #expect(watch.isSessionStalled(at: Self.at(210)))
        watch.workDone(in: Self.partition)
        #expect(!watch.isStalled(at: Self.at(210)) && !watch.isSessionStalled(at: Self.at(210)))
    }

    @Test func `work that waited for an unreachable broker is not a stall, until work arrives again`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        watch.brokerUnreachable()
        #expect(!watch.isStalled(at: Self.at(200)))
        watch.workArrived(in: Self.partition, at: Self.at(300))
        #expect(watch.isStalled(at: Self.at(310)))
    }

    @Test func `every retry waits, and no pause is longer than a second`() {
        var watch = ProgressWatch()
        watch.workArrived(in: Self.partition, at: Self.at(100))
        #expect(watch.retryPause == Milliseconds(50))
        // The pause after each failure, in milliseconds.
        var pauses: [Int64] = []
        for _ in 0..<100 {
            watch.workFailed(in: Self.partition)
            pauses.append(watch.retryPause.count)
        }
        #expect(Array(pauses.prefix(6)) == [50, 100, 200, 400, 800, 1000], "doubled from the second failure on")
        #expect(pauses.max() == 1000)
    }

    @Test func `the oldest work that is not durable determines the waiting time`() {
        var watch = ProgressWatch()
        func waitingTime(atSecond second: Int64) -> Milliseconds { watch.waitingTime(at: Self.at(second)) }
        #expect(waitingTime(atSecond: 1) == Milliseconds(0))
        watch.workArrived(in: Self.partition, at: Self.at(1))
        watch.workArrived(in: Self.otherPartition, at: Self.at(3))
        watch.workArrived(in: Self.partition, at: Self.at(4))
        #expect(waitingTime(atSecond: 5) == .seconds(5 - 1), "the oldest work of the partition arrived at 1 s")
        watch.workDone(in: Self.partition)
        #expect(waitingTime(atSecond: 6) == .seconds(6 - 3), "the work of the other partition arrived at 3 s")
    }
}

/// Tests of what a shell does after a session has failed: it begins another session after a pause, or ends the process.
///
/// The shell ends the process after three stuck sessions within a minute. A session was stuck if it lasted for at least
/// ten seconds and its work was stalled, or if it ended because the broker did not answer a write. All times are in
/// seconds.
@Suite struct SessionRestartsTests {
    /// The broker has not answered a write.
    private static let unanswered = KafkaError(.unanswered, "", isFatal: true)
    /// Another owner has taken the partitions.
    private static let fenced = KafkaError(.fenced, "")

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    /// The decisions after sessions of `duration` seconds each, which `error` ended at the given times; `isStalled`
    /// tells whether their work was stalled.
    private static func decisions(
        _ error: any Error, isStalled: Bool = false, lasting duration: Int64 = 10, endingAt seconds: [Int64]
    ) -> [SessionRestarts.Decision] {
        var restarts = SessionRestarts()
        return seconds.map {
            restarts.sessionFailed(error, isStalled: isStalled, beganAt: Self.at($0 - duration), at: Self.at($0))
        }
    }

    @Test func `the third stuck session within a minute ends the process`() {
        let seconds: [Int64] = [0, 20, 70, 79]
        // The sessions end at these seconds. From 20 to 79 s, a time of less than a minute, three sessions end. Before,
        // there are only two sessions within a minute.
        let mustExit = [false, false, false, true]
        let stallDecisions = Self.decisions(SessionStalledError(), isStalled: true, endingAt: seconds)
        #expect(stallDecisions.map { $0 == .exit } == mustExit)
        // After an unanswered write a session is stuck even if no work is stalled.
        #expect(Self.decisions(Self.unanswered, endingAt: seconds).map { $0 == .exit } == mustExit)
        // A session whose work is stalled may also end with another error.
        #expect(Self.decisions(Self.fenced, isStalled: true, endingAt: seconds).map { $0 == .exit } == mustExit)
    }

    @Test func `sessions of less than ten seconds never end the process, however long the work waits`() {
        let decisions = Self.decisions(Self.fenced, isStalled: true, lasting: 9, endingAt: Array(0..<100))
        #expect(!decisions.contains(.exit))
    }

    @Test func `sessions that lose their partitions to another owner never end the process`() {
        let decisions = Self.decisions(Self.fenced, endingAt: Array(0..<100))
        #expect(!decisions.contains(.exit))
    }

    @Test func `the pause doubles up to a second, and a long session resets it`() {
        var restarts = SessionRestarts()
        /// The pause, in milliseconds, after a session that began and ended at these seconds.
        func pause(beganAt: Int64, endedAt: Int64) -> Int64 {
            let decision = restarts.sessionFailed(
                Self.fenced, isStalled: false, beganAt: Self.at(beganAt), at: Self.at(endedAt))
            // -1 stands for the end of the process.
            guard case .restart(after: let pause) = decision else { return -1 }
            return pause.count
        }
        let pauses = (0..<7).map { pause(beganAt: $0, endedAt: $0 + 1) }
        #expect(pauses == [50, 100, 200, 400, 800, 1000, 1000])
        #expect(pause(beganAt: 100, endedAt: 111) == 50, "the session lasted for more than ten seconds")
    }
}
