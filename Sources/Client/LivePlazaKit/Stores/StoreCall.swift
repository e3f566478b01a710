// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// A call to the server, and the change that the client shows after the call has succeeded.
struct StoreCall: Sendable {
    let method: String
    let params: [String: JSONValue]
    /// The change that the client shows by itself; nil if the feed or a notice reports all changes.
    let change: LocalChange?

    /// Describes a call; parameters that are nil are left out.
    init(_ method: String, _ params: [String: JSONValue?] = [:], then change: LocalChange? = nil) {
        self.method = method
        self.params = params.compactMapValues { $0 }
        self.change = change
    }
}

/// The part of a store's method that runs on the engine.
typealias StoreOperation<Success> = @Sendable (isolated PlazaEngine) async throws(ErrorInfo) -> Success

/// The engine with which the stores of a live make their calls, and the id of the live.
struct LiveHandle: Sendable {
    let engine: PlazaEngine
    let liveID: String

    /// Makes a call; `completion` is called on the delivery queue.
    func run(_ completion: CompletionClosure?, _ call: StoreCall) {
        self.run(completion) { engine async throws(ErrorInfo) in _ = try await engine.perform(call, in: self.liveID) }
    }

    /// Makes a call.
    func run(_ call: StoreCall) async throws(ErrorInfo) {
        _ = try await self.engine.perform(call, in: self.liveID)
    }

    /// Begins an operation, in the order of the calls of this method; `completion` is called on the delivery queue.
    func run<Success: Sendable>(
        _ completion: ((Result<Success, ErrorInfo>) -> Void)?, _ operation: @escaping StoreOperation<Success>
    ) {
        self.engine.start(completion, operation)
    }

    /// Runs an operation.
    func run<Success: Sendable>(_ operation: StoreOperation<Success>) async throws(ErrorInfo) -> Success {
        try await operation(self.engine)
    }
}

extension PlazaEngine {
    /// Begins an operation, in the order of the calls of this method, and calls an app's closure with its result.
    nonisolated func start<Success: Sendable>(
        _ completion: ((Result<Success, ErrorInfo>) -> Void)?, _ operation: @escaping StoreOperation<Success>
    ) {
        let completion = Completion(completion)
        self.run({ @Sendable result in completion(result) }, operation)
    }

    /// Makes a call about a live, and shows the change of the call after its success.
    ///
    /// If it remains unknown whether the server has applied the call, the server's state is read instead.
    func perform(_ call: StoreCall, in liveID: String) async throws(ErrorInfo) -> CallResult {
        do throws(ErrorInfo) {
            let result = try await self.call(call.method, call.params, live: LiveID(liveID))
            if let change = call.change { self.applyLocalChange(change, in: liveID) }
            return result
        } catch {
            if let change = call.change {
                let changed = SnapshotName.allCases.filter { $0.isChanged(by: .local(change)) }
                self.readIfUnknown(changed, after: error, in: liveID)
                // The request may have been answered by another host or by another device of this user.
                if error.saysRequestIsGone, self.currentLiveID == liveID { self.readNow(changed) }
            }
            throw error
        }
    }

    /// Reads the snapshots that show the change of a failed call, if the call may have been applied.
    func readIfUnknown(_ snapshots: [SnapshotName], after error: ErrorInfo, in liveID: String) {
        if error.leavesOutcomeUnknown, self.currentLiveID == liveID { self.readNow(snapshots) }
    }
}
