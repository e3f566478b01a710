// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The live that a client is in.
struct LiveSession: Sendable {
    /// The number of the session among those of the engine.
    let number: Int
    var fold: LiveFold
    /// The stores that show the live; retained as long as the client is in it.
    let stores: any LiveStoresSink
    /// The timer that increases the displayed duration each second.
    var timer: PlazaTimer?
    /// The timers of reads that were postponed.
    var timers: [SnapshotName: PlazaTimer] = [:]
    /// The reads in progress.
    var reads: [SnapshotName: SnapshotRead] = [:]
}

/// A read that is in progress, or waits for the one before it.
struct SnapshotRead: Sendable {
    let number: Int
    let task: Task<Result<Void, ErrorInfo>, Never>
}
