// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The stores of one live, as the engine sees them.
///
/// The methods are called on the delivery queue.
protocol LiveStoresSink: AnyObject, Sendable {
    /// The local messages that the app added to the live's barrage before the client entered the live.
    var localTips: [Barrage] { get }
    /// The changes after which the stores show these states; none for a store that shows its state already.
    func changes(to states: LiveStates) -> [StateChange]
    /// Publishes events of the stores, in order.
    func publish(_ events: [StoreEvent])
}

/// The store of the list of lives, as the engine sees it.
///
/// The methods are called on the delivery queue.
protocol ListSink: AnyObject, Sendable {
    /// The change after which the state shows this live as the current one; nil if it does so already.
    ///
    /// `info`: the live that the client is in; empty if it is in none.
    /// `isRead`: whether `info` has more than the live's id. Until then the list keeps what it shows of the live.
    func change(ofCurrentLive info: LiveInfo, isRead: Bool) -> StateChange?
    func publish(_ event: LiveListEvent)
}

/// The store of the login, as the engine sees it.
///
/// The methods are called on the delivery queue.
protocol LoginSink: AnyObject, Sendable {
    func show(_ state: LoginState)
    func publish(_ event: LoginEvent)
}

/// The store of the user's devices, as the engine sees it.
///
/// The methods are called on the delivery queue.
protocol DeviceSink: AnyObject, Sendable {
    /// Handles a change of the user's seat; nil if the user sits on none.
    ///
    /// `reporting`: the devices that this client has reported to the seat, without a reply yet.
    func ownSeatChanged(to seat: OwnSeat?, reporting: Set<Device>)
    /// Closes a device because a host has closed it.
    func closedByHost(_ device: Device)
    /// Closes all devices, because the user is in no live any more.
    func closeAll()
    /// How often the user has muted the microphone.
    var muteCount: Int { get }
    /// Mutes the open microphone, or one that is being opened.
    func muteMicrophone()
    /// Unmutes the open microphone, unless the user has muted it since `muteCount` had this value.
    ///
    /// A microphone is unmuted only after the server has agreed. If the user mutes it in the meantime, the mute wins,
    /// so that nobody hears the user.
    func unmuteMicrophone(unlessMutedSince muteCount: Int)
}

/// The stores in which an engine shows its states.
///
/// The engine retains only the stores of the live that it is in. The stores of other lives exist as long as the app
/// retains them. `list`, `login` and `devices` return nil after the app has released the client and these stores.
struct StoreSinks: Sendable {
    /// Returns the stores of a live, and makes them if there are none.
    let stores: @Sendable (_ liveID: String) -> any LiveStoresSink
    let list: @Sendable () -> (any ListSink)?
    let login: @Sendable () -> (any LoginSink)?
    let devices: @Sendable () -> (any DeviceSink)?
    /// Publishes an event that no store shows.
    let publish: @Sendable (PlazaEvent) -> Void
}
