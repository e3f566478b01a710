// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// One user of the evening: a client, and the calls that it makes one after another.
final class EveningMember: Sendable {
    let id: String
    /// Index of the user's live; nil: the app's own server.
    let live: Int?
    private let makeClient: @Sendable () -> PlazaClient
    private let current: Locked<PlazaClient>
    private let waitingCalls: AsyncStream<EveningCall>
    private let queue: AsyncStream<EveningCall>.Continuation

    init(_ id: String, live: Int?, makeClient: @escaping @Sendable () -> PlazaClient) {
        self.id = id
        self.live = live
        self.makeClient = makeClient
        self.current = Locked(makeClient())
        // While no gateway answers, what waits must not grow: what is old is not worth sending.
        (self.waitingCalls, self.queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(20))
    }

    /// Makes the call when the earlier ones are answered.
    func post(_ call: EveningCall) { self.queue.yield(call) }

    /// Makes the posted calls until the task is cancelled.
    ///
    /// - Parameter rejoin: called when a call says that the user is not in the live; the call is then sent once more.
    func sendCalls(rejoin: @Sendable () async -> Void) async {
        for await call in self.waitingCalls {
            guard let error = await self.call(call), call.method != "live.leave" else { continue }
            guard [.notInRoom, .noSuchRoom, .noSuchRoomOnEntry].contains(error.code) else { continue }
            await rejoin()
            _ = await self.call(call)
        }
    }

    /// Makes a call at once.
    ///
    /// - Returns: the error; nil if it succeeded.
    @discardableResult
    func call(_ call: EveningCall) async -> ReplyError? {
        switch await self.result(of: call) {
        case .success: nil
        case .failure(let error): error
        }
    }

    func result(of call: EveningCall) async -> Result<CallResult, ReplyError> {
        let isMove = call.method == "live.join" || call.method == "live.leave"
        let live = isMove ? (call.params as? Params)?.live : nil
        let client = self.current.withLock { $0 }
        do {
            return .success(try await client.call(call.method, call.params, live: live))
        } catch {
            return .failure(error)
        }
    }

    /// Receives updates until the task is cancelled.
    ///
    /// A client that has ended, as when its token is too old, is replaced.
    func receiveUpdates(_ receive: @Sendable (ClientUpdate) -> Void) async {
        while !Task.isCancelled {
            let client = self.current.withLock { $0 }
            guard let update = await client.updates.next(before: .now + .seconds(1)) else { continue }
            receive(update)
            guard case .event(.ended) = update, (try? await Task.sleep(for: .seconds(5))) != nil else { continue }
            self.current.withLock { $0 = self.makeClient() }
        }
    }

    /// Ends the client; its open calls fail.
    func stop() { self.current.withLock { $0 }.stop() }
}
