// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// One user of the evening: a client, and the calls that it sends one after another.
final class EveningMember: Sendable {
    let id: String
    /// The index of the user's live in the cast; nil for the app's own server.
    let live: Int?
    private let makeClient: @Sendable () -> PlazaClient
    /// The current client; a new one replaces it when it has ended.
    private let client: Locked<PlazaClient>
    /// The calls that `sendCalls` will send.
    private let postedCalls: AsyncStream<EveningCall>
    private let postedCallsContinuation: AsyncStream<EveningCall>.Continuation

    init(_ id: String, live: Int?, makeClient: @escaping @Sendable () -> PlazaClient) {
        self.id = id
        self.live = live
        self.makeClient = makeClient
        self.client = Locked(makeClient())
        // While no gateway answers, calls accumulate. Old calls are not worth sending, so only the newest 20 are kept.
        (self.postedCalls, self.postedCallsContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(20))
    }

    /// Adds a call, which `sendCalls` sends when all earlier calls are answered.
    func post(_ call: EveningCall) { self.postedCallsContinuation.yield(call) }

    /// Sends the posted calls one after another, until the task is cancelled.
    ///
    /// If a call fails because the user is not in the live, the user joins again, and the call is sent once more.
    ///
    /// - Parameter rejoin: makes the user join its live again.
    func sendCalls(rejoin: @Sendable () async -> Void) async {
        for await call in self.postedCalls {
            guard let error = await self.call(call), call.method != "live.leave" else { continue }
            guard [.notInRoom, .noSuchRoom, .noSuchRoomOnEntry].contains(error.code) else { continue }
            await rejoin()
            _ = await self.call(call)
        }
    }

    /// Sends a call at once, even while posted calls wait.
    ///
    /// - Returns: the error; nil if the call succeeded.
    @discardableResult
    func call(_ call: EveningCall) async -> ReplyError? {
        switch await self.result(of: call) {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// Sends a call at once, even while posted calls wait, and returns its result or its error.
    func result(of call: EveningCall) async -> Result<CallResult, ReplyError> {
        // The client must know the live of a join or a leave, so that it resumes the right live after a reconnect.
        let isJoinOrLeave = call.method == "live.join" || call.method == "live.leave"
        let live = isJoinOrLeave ? (call.params as? CallParams)?.live : nil
        let client = self.client.withLock { $0 }
        do {
            return .success(try await client.call(call.method, call.params, live: live))
        } catch {
            return .failure(error)
        }
    }

    /// Receives updates until the task is cancelled.
    ///
    /// A client that has ended, for example because its token has expired, is replaced after 5 s.
    func receiveUpdates(_ receive: @Sendable (ClientUpdate) -> Void) async {
        while !Task.isCancelled {
            let client = self.client.withLock { $0 }
            guard let update = await client.updates.next(before: .now + .seconds(1)) else { continue }
            receive(update)
            guard case .event(.ended) = update, (try? await Task.sleep(for: .seconds(5))) != nil else { continue }
            self.client.withLock { $0 = self.makeClient() }
        }
    }

    /// Ends the client; its open calls fail.
    func stop() { self.client.withLock { $0 }.stop() }
}
