// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
public import LivePlazaCombine
internal import PlazaModel

/// One client: a login, the list of lives, and the stores of the live that it is in.
///
/// A process may have any number of clients. `shared` is the one to which `LoginStore.shared` and
/// `BarrageStore.create(liveID:)` belong. A client whose `LivePlaza` is released ends: it disconnects, and the calls of
/// stores that are still held fail with `notLoggedIn`.
public final class LivePlaza: Sendable {
    /// The default client.
    public static let shared = LivePlaza(options: configured.withLock { $0 })

    /// The options with which `shared` is created.
    private static let configured = Locked(PlazaOptions())

    /// The login of this client.
    public let loginStore: LoginStore
    /// The list of lives, and the live that this client is in.
    public let liveListStore: LiveListStore
    /// Camera, microphone and screen of this user.
    public let deviceStore: DeviceStore
    /// Publishes the events that no store shows, on the delivery queue.
    public let eventPublisher: PassthroughSubject<PlazaEvent, Never>

    let engine: PlazaEngine
    let registry: StoreRegistry
    #if canImport(Darwin)
    private let systemEvents: SystemEvents?
    #endif

    /// Creates a client, which connects when `loginStore` logs in.
    public convenience init(options: PlazaOptions) {
        self.init(
            options: options, queue: EngineQueue(DispatchWorkQueue(queue: options.deliveryQueue)),
            clock: DeviceClock(), followsSystem: true
        ) { Double.random(in: 0..<1) }
    }

    /// Creates a client with the queue, the clock and the random source of a test.
    ///
    /// `followsSystem`: whether the client reacts when the app is shown again and when the network changes; it can do
    /// so on Apple systems only.
    package init(
        options: PlazaOptions, queue: EngineQueue, clock: any PlazaClock, followsSystem: Bool = false,
        random: @escaping RandomSource
    ) {
        let registry = StoreRegistry()
        let events = PassthroughSubject<PlazaEvent, Never>()
        let engine = PlazaEngine(
            options: options, queue: queue, clock: clock, random: random,
            sinks: StoreSinks(
                stores: { liveID in registry.stores(of: liveID) }, list: { registry.list }, login: { registry.login },
                devices: { registry.devices }, publish: { events.send($0) }))
        self.engine = engine
        self.registry = registry
        self.eventPublisher = events
        self.loginStore = LoginStore(engine: engine)
        self.liveListStore = LiveListStore(engine: engine)
        self.deviceStore = DeviceStore(engine: engine)
        registry.attach(engine, list: self.liveListStore, login: self.loginStore, devices: self.deviceStore)
        #if canImport(Darwin)
        self.systemEvents = followsSystem ? SystemEvents { [weak engine] in engine?.systemChanged($0) } : nil
        #endif
    }

    deinit {
        self.engine.onQueue { [deviceStore] engine in
            engine.disconnect()
            deviceStore.closeAll()
        }
    }

    /// Sets the options of the default client; call it before the login.
    ///
    /// The delivery queue cannot be changed any more once `shared` has been used.
    public static func configure(_ options: PlazaOptions) {
        Self.configured.withLock { $0 = options }
        Self.shared.engine.onQueue { $0.options = options }
    }

    /// The states and events of a live; the states are the defaults until the client is in the live.
    func stores(of liveID: String) -> LiveStores { self.registry.stores(of: liveID) }

    /// Checks the connection at once; call it when the app is shown again, or when the network may be back.
    ///
    /// On Apple systems the client does so by itself.
    public func probe() { self.engine.onQueue { $0.probeConnection() } }

    /// Tells the client that the network has changed, and whether there is one.
    ///
    /// Without a network, the client rarely tries to connect. With one, it checks its connection. On Apple systems the
    /// client asks the system itself.
    public func setOnline(_ isOnline: Bool) { self.engine.onQueue { $0.setOnline(isOnline) } }
}
