// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import MachineKit
package import PlazaModel
internal import PlazaWire

/// One client of a `ClientHub`, for asynchronous code: it makes calls and queues the updates that it receives.
///
/// The client ends when nobody refers to it any more.
package final class PlazaClient: Sendable {
    let id: UInt64
    private let hub: ClientHub
    /// The queue of received feed items and events, which only one consumer may read.
    package let updates: UpdateQueue

    init(_ hub: ClientHub, _ id: UInt64, _ updates: UpdateQueue) {
        self.hub = hub
        self.id = id
        self.updates = updates
    }

    deinit { _ = self.post(.stop) }

    /// Calls `method`, and awaits the reply for at most `BareClientCore.Options.callTimeout`.
    ///
    /// A reconnect does not end the call, because the client sends the call again.
    ///
    /// - Parameters:
    ///   - method: a name of PROTOCOL.md, section 5.
    ///   - params: the parameters of the method.
    ///   - live: the live to join, for the method `live.join`; it has no effect on other methods.
    /// - Returns: the server's reply.
    /// - Throws: the error in the server's reply; `timedOut` if there is no reply in time; `overloaded` if too many
    ///   calls wait; `failed` or `notLoggedIn` if the client has ended.
    @discardableResult
    package func call(
        _ method: String, _ params: some Encodable & Sendable, live: LiveID? = nil
    ) async throws(ReplyError) -> CallResult {
        let bytes = Wire.encode(params)
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            let call = PendingCall(method: method, params: bytes, live: live, caller: continuation)
            if !self.post(.call(call)) {
                let error = ReplyError(
                    .overloaded, "too many calls wait", retryAfter: BareClientCore.retryPause.count)
                continuation.resume(returning: .failure(error: error))
            }
        }
        switch outcome {
        case .success(let result): return result
        case .failure(let error): throw error
        }
    }

    /// Ends the client; it cannot be restarted.
    package func stop() { _ = self.post(.stop) }

    /// Passes a command to the hub's event loop; returns false if too many commands wait there.
    private func post(_ action: HubCommand.Action) -> Bool {
        (try? self.hub.commands.post(HubCommand(client: self.id, action))) != nil
    }
}
