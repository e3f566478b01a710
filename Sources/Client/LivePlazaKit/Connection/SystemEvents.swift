// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
internal import Dispatch
internal import Foundation
internal import Network

/// Reports, on Apple systems, that the app has become active and whether the system has a network.
///
/// The reports end when the object is released.
final class SystemEvents: Sendable {
    /// A change of the system.
    enum Event: Sendable {
        /// The app has become active: the user sees it, and can use it.
        case appBecameActive
        /// The network has changed; `isOnline` is false if there is none.
        case networkChanged(isOnline: Bool)
    }

    /// What the system calls while this object lives.
    private struct Registration {
        let monitor: NWPathMonitor
        let observers: [any NSObjectProtocol]
    }

    /// The names of the notifications by which UIKit and AppKit report that the app has become active.
    ///
    /// They are texts, because the kit also runs where neither framework is linked, such as in a command line tool.
    private static let activationNotifications = [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
    ]

    private let registration: Locked<Registration>

    /// Begins to report.
    ///
    /// - Parameter onEvent: called on any thread. Soon after the start it gets a first `networkChanged` with the
    ///   present state of the network.
    init(_ onEvent: @escaping @Sendable (Event) -> Void) {
        let monitor = NWPathMonitor()
        // The status `requiresConnection` counts as online: an attempt to connect makes the system bring up a network,
        // for example a VPN.
        monitor.pathUpdateHandler = { path in onEvent(.networkChanged(isOnline: path.status != .unsatisfied)) }
        let observers = Self.activationNotifications.map { name in
            NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
                onEvent(.appBecameActive)
            }
        }
        monitor.start(queue: DispatchQueue(label: "liveplaza.network"))
        self.registration = Locked(Registration(monitor: monitor, observers: observers))
    }

    deinit {
        self.registration.withLock { registration in
            registration.monitor.cancel()
            for observer in registration.observers { NotificationCenter.default.removeObserver(observer) }
        }
    }
}

extension PlazaEngine {
    /// Handles a change of the system; may be called from any thread.
    nonisolated func systemChanged(_ event: SystemEvents.Event) {
        self.onQueue { engine in
            switch event {
            case .appBecameActive: engine.probeConnection()
            case .networkChanged(let isOnline): engine.setOnline(isOnline)
            }
        }
    }
}
#endif
