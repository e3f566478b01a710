// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The live that a client is in.
struct LiveSession: Sendable {
    /// Which of the engine's sessions this is.
    let number: Int
    var fold: LiveFold
    /// The stores that show it.
    ///
    /// They live as long as the client is in the live.
    let stores: any LiveStoresSink
    /// Counts the duration on.
    var timer: PlazaTimer?
    /// When reads are due that were put off.
    var timers: [SnapshotName: PlazaTimer] = [:]
    /// The reads under way.
    var reads: [SnapshotName: SnapshotRead] = [:]
}

/// A read under way, or waiting for the one before it.
struct SnapshotRead: Sendable {
    let number: Int
    let task: Task<Result<Void, ErrorInfo>, Never>
}
