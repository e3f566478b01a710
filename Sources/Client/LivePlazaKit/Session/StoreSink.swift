// SPDX-License-Identifier: Apache-2.0

/// The stores of one live.
///
/// Its method is called on the delivery queue.
protocol LiveStoresSink: AnyObject, Sendable {
    /// Shows the states in all stores, then tells the events.
    func show(_ states: LiveStates, events: [StoreEvent])
}

/// The store of the list of lives.
///
/// Its methods are called on the delivery queue.
protocol ListSink: AnyObject, Sendable {
    /// Shows the live that the client is in; an empty one: it is in none.
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

/// What an engine shows its states in.
///
/// The engine keeps the stores of the live that it is in, and no others: those of another live live as long as the app
/// holds them.
struct StoreSinks: Sendable {
    /// The stores of a live, which are made if there are none.
    let stores: @Sendable (_ liveID: String) -> any LiveStoresSink
    let list: @Sendable () -> (any ListSink)?
    let login: @Sendable () -> (any LoginSink)?
    /// Takes what no store shows.
    let tell: @Sendable (PlazaEvent) -> Void
}

/// What happens to a client that no store shows.
public enum PlazaEvent: Sendable, Hashable {
    /// The server sent what is not of the protocol, which was dropped; or the token provider failed, and is asked again.
    case fault(ErrorInfo)
    /// The client was logged in and does not reconnect by itself. `code` is the WebSocket close code.
    case connectionEnded(code: Int, ErrorInfo)
}
