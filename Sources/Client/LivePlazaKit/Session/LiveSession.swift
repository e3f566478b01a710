// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A client's stay in one live, from the join until the client leaves or the live ends.
struct LiveSession: Sendable {
    /// Counts the live sessions of the engine, so that late work of an earlier session is recognized.
    let number: Int
    /// The states of the live, to which each received frame is applied.
    var fold: LiveFold
    /// The stores that show the live; retained as long as the client is in it.
    let stores: any LiveStoresSink
    /// The timer that increases the displayed duration each second.
    var durationTimer: PlazaTimer?
    /// The timer that ends the wait for notices: ends of requests that none has reported are then published.
    var noticeTimer: PlazaTimer?
    /// Until when open requests in the lists of a host's stores are open at most, and the notices of their ends take.
    var requestDeadlines: [RequestName: MonotonicTime] = [:]
    /// The timer of the earliest of these times.
    var requestTimer: PlazaTimer?
    /// The timers of reads that were postponed, by the part of the live's state that is read.
    var readTimers: [SnapshotName: PlazaTimer] = [:]
    /// The reads in progress, by the part of the live's state that is read.
    var reads: [SnapshotName: SnapshotRead] = [:]
}

/// A read of a snapshot that is in progress, or waits for an earlier read of the same snapshot.
struct SnapshotRead: Sendable {
    /// Counts the reads of the engine, so that a read that has ended does not remove a later one.
    let number: Int
    let task: Task<Result<Void, ErrorInfo>, Never>
}
