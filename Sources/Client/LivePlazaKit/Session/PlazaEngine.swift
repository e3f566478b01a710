// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// One client: its connection, its login, and the live that it is in.
///
/// All of its work runs on the delivery queue. The changes that a frame causes are shown in the stores before the next
/// frame is handled. If the frame is a reply, they are also shown before the caller of the call resumes.
actor PlazaEngine {
    nonisolated let queue: EngineQueue
    nonisolated let clock: any PlazaClock
    nonisolated let random: RandomSource
    /// The stores in which the engine shows states and publishes events.
    nonisolated let sinks: StoreSinks

    /// The options of the next login.
    var options: PlazaOptions
    /// The connection of the present login, over all reconnects; nil before a login and after its end.
    var connection: ConnectionState?
    /// The number of the last `connection`, which is also the number of logins so far: a reconnect is no new login.
    var connectionCount = 0
    /// The callers that wait for the end of their call.
    var callers: [CallKey: CheckedContinuation<Result<CallResult, ErrorInfo>, Never>] = [:]
    /// The actions of the core that wait until earlier actions have been performed.
    var actions: [ClientAction] = []
    /// Whether `updateCore` is performing actions; further actions are then only added to `actions`.
    var isPerforming = false

    /// The state that `LoginStore` shows.
    var loginState = LoginState()
    /// The caller that waits for its login.
    var waitingLogin: CheckedContinuation<Result<UserProfile, ErrorInfo>, Never>?
    /// Ends the wait for a login that takes too long.
    var loginTimer: PlazaTimer?
    /// The callers that wait for the end of a logout; nil while there is none.
    var logoutWaiters: [CheckedContinuation<Void, Never>]?

    /// The user's id; empty before the first login.
    var selfID = ""
    /// The stay in the live that the client is in; nil if it is in none.
    var liveSession: LiveSession?
    /// The number of the last live session.
    var liveSessionCount = 0
    /// The number of unanswered reports of each device to the user's seat.
    var deviceReports: [Device: Int] = [:]
    /// The number of the last read of a snapshot (a part of the live's state that a call returns).
    var readCount = 0
    /// The server's time minus the clock's time; nil until a reply has contained the server's time.
    nonisolated let serverTimeOffset = Locked<ServerTimeOffset?>(nil)
    /// The operations of stores that have not begun yet, in the order of the app's calls.
    private var operations: [@Sendable (isolated PlazaEngine) async -> Void] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.queue.asUnownedSerialExecutor() }

    init(
        options: PlazaOptions, queue: EngineQueue, clock: any PlazaClock, random: @escaping RandomSource,
        sinks: StoreSinks
    ) {
        self.options = options
        self.queue = queue
        self.clock = clock
        self.random = random
        self.sinks = sinks
    }

    /// Runs `body` on the engine later; may be called from any thread.
    ///
    /// The calls of this method and of `run` are executed in their order.
    nonisolated func onQueue(_ body: @escaping @Sendable (isolated PlazaEngine) -> Void) {
        self.queue.async { self.assumeOnQueue(body) }
    }

    /// Runs `body` on the engine at once; must be called on the engine's queue.
    nonisolated func assumeOnQueue(_ body: @Sendable (isolated PlazaEngine) -> Void) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            self.assumeIsolated(body)
        } else {
            // Older systems cannot ask an executor whether the present code runs on it, so `assumeIsolated` would trap.
            // The cast removes the isolation from the closure's type, so that the closure can be called here.
            withoutActuallyEscaping(body) { body in
                unsafe unsafeBitCast(body, to: (@Sendable (PlazaEngine) -> Void).self)(self)
            }
        }
    }

    /// Runs an operation of a store, `body`, on the engine later; may be called from any thread.
    ///
    /// Operations begin in the order of the calls of this method, but do not wait for each other's end. When `body` has
    /// ended, `completion` is called on the delivery queue.
    nonisolated func run<T: Sendable>(
        _ completion: (@Sendable (Result<T, ErrorInfo>) -> Void)?,
        _ body: @escaping @Sendable (isolated PlazaEngine) async throws(ErrorInfo) -> T
    ) {
        self.onQueue { engine in
            engine.operations.append { engine in
                let result: Result<T, ErrorInfo>
                do throws(ErrorInfo) {
                    result = .success(try await body(engine))
                } catch {
                    result = .failure(error)
                }
                completion?(result)
            }
            // On older systems two tasks may begin in the wrong order. Therefore a task runs the oldest operation that
            // has not begun, which need not be the one that was added above.
            engine.task { engine in await engine.operations.removeFirst()(engine) }
        }
    }

    /// Begins a task of the engine, which resumes on the engine's queue.
    ///
    /// On systems that are older than those in the availability check, the task begins on a thread of the system's
    /// pool, and reaches the queue later.
    @discardableResult
    nonisolated func task<T: Sendable>(
        _ body: @escaping @Sendable (isolated PlazaEngine) async -> T
    ) -> Task<T, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return Task { await body(self) }
        }
        return Task(executorPreference: self.queue) { await body(self) }
    }

    /// Calls a method of the server and waits for its reply, also across reconnects.
    ///
    /// The effects of the frames that the server sent before the reply are shown before this method returns.
    ///
    /// `method`: a name of PROTOCOL.md, section 5.
    /// `params`: the parameters without `live`, which is added if `live` is not nil.
    /// `live`: the live that the call is about.
    /// - Throws: the server's error, `timedOut`, `overloaded`, `notLoggedIn`, or `messageTooLong`.
    func call(
        _ method: String, _ params: [String: JSONValue] = [:], live: LiveID? = nil
    ) async throws(ErrorInfo) -> CallResult {
        try self.checkHasLogin()
        var params = params
        if let live { params["live"] = .text(live.text) }
        let bytes = try OutgoingFrame.params(params)
        let result = await withCheckedContinuation { continuation in
            self.startCall(method, bytes, live, continuation)
        }
        return try result.get()
    }

    /// Throws `notLoggedIn` unless the client has begun a login that has not ended.
    func checkHasLogin() throws(ErrorInfo) {
        if self.connection == nil { throw ErrorInfo(.notLoggedIn, "log in first") }
    }

    /// Publishes a fault that no store shows.
    func report(_ error: ErrorInfo) { self.sinks.publish(.fault(error)) }
}

extension PlazaEngine {
    /// Waits for a duration of the client's clock.
    func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            let delay = Milliseconds(roundingUp: duration)
            _ = self.clock.schedule(after: delay, on: self.queue) { continuation.resume() }
        }
    }
}
