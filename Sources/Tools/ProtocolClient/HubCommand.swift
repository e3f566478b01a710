// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A command of a client to the event loop of its `ClientHub`.
struct HubCommand: Sendable {
    enum Action: Sendable {
        case start([PlazaAddress], BareClientCore.Options, UpdateQueue)
        case call(PendingCall)
        case stop
    }

    /// The id of the client that the command is for.
    let client: UInt64
    let action: Action

    init(client: UInt64, _ action: Action) {
        self.client = client
        self.action = action
    }
}

/// A call whose caller waits for the outcome.
struct PendingCall: Sendable {
    let method: String
    /// The parameters as JSON.
    let params: [UInt8]
    /// The live to join, for the method `live.join`; it has no effect on other methods.
    let live: LiveID?
    let caller: CheckedContinuation<Outcome, Never>
}

extension Outcome {
    /// The outcome of a call whose client was stopped.
    static var clientStopped: Outcome { .failure(error: ReplyError(.failed, "the client was stopped")) }
}
