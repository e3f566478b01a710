// SPDX-License-Identifier: Apache-2.0
public import Dispatch

/// How a client connects.
public struct PlazaOptions: Sendable {
    /// The addresses of the gateways, such as `wss://live.example.com/v1`.
    ///
    /// Each login begins at a random one, so that clients spread over the gateways; each reconnect tries the next one.
    public var gateways: [String]
    /// Returns a login token for the user.
    ///
    /// It is called when no token is known, and before the present token expires. Nil if the client uses only the token
    /// that is passed to the login.
    public var tokenProvider: (@Sendable () async throws -> String)?
    /// Opens the WebSockets.
    ///
    /// Nil means `URLSessionTransport` on Apple systems. On other systems an app must give a transport, such as that of
    /// the product `LivePlazaTransport`.
    public var transport: (any Transport)?
    /// The queue on which the client works and on which completions, publishers and delegates are called.
    public var deliveryQueue: DispatchQueue
    /// How long a login may take.
    public var loginTimeout: Duration
    /// How long a call may take, including reconnects before its reply arrives.
    public var callTimeout: Duration
    /// The id of the client's session, by which the server recognises a repeated call.
    ///
    /// It has 1 to 40 letters, digits, hyphens or underscores. Nil for a new session with each login.
    public var session: String?

    /// Makes options; an app must give `gateways`, and for the other options the defaults suit most apps.
    public init(
        gateways: [String] = [], tokenProvider: (@Sendable () async throws -> String)? = nil,
        transport: (any Transport)? = nil, deliveryQueue: DispatchQueue = .main, loginTimeout: Duration = .seconds(15),
        callTimeout: Duration = .seconds(15), session: String? = nil
    ) {
        self.gateways = gateways
        self.tokenProvider = tokenProvider
        self.transport = transport
        self.deliveryQueue = deliveryQueue
        self.loginTimeout = loginTimeout
        self.callTimeout = callTimeout
        self.session = session
    }
}
