// SPDX-License-Identifier: Apache-2.0

/// The stores of one live.
///
/// Its method is called on the delivery queue.
protocol LiveStoresSink: AnyObject, Sendable {
    /// Shows the states in all stores, then publishes the events.
    func show(_ states: LiveStates, events: [StoreEvent])
}

/// The store of the list of lives.
///
/// Its methods are called on the delivery queue.
protocol ListSink: AnyObject, Sendable {
    /// Shows the live that the client is in; an empty one if it is in none.
    func showCurrent(_ info: LiveInfo)
    func tell(_ event: LiveListEvent)
}

/// The store of the login.
///
/// Its methods are called on the delivery queue.
protocol LoginSink: AnyObject, Sendable {
    func show(_ state: LoginState)
    func tell(_ event: LoginEvent)
}

/// The stores in which an engine shows its states.
///
/// The engine retains only the stores of the live that it is in. The stores of other lives exist as long as the app
/// retains them.
struct StoreSinks: Sendable {
    /// The stores of a live, which are made if there are none.
    let stores: @Sendable (_ liveID: String) -> any LiveStoresSink
    let list: @Sendable () -> (any ListSink)?
    let login: @Sendable () -> (any LoginSink)?
    /// Publishes an event that no store shows.
    let tell: @Sendable (PlazaEvent) -> Void
}

/// An event of a client that no store shows.
public enum PlazaEvent: Sendable, Hashable {
    /// The server violated the protocol, and its frame was dropped; or the token provider failed, and will be asked
    /// again.
    case fault(ErrorInfo)
    /// The client was logged in and does not reconnect by itself. `code` is the WebSocket close code.
    case connectionEnded(code: Int, ErrorInfo)
}
