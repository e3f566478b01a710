// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
internal import Dispatch
internal import Foundation
internal import Network

/// Reports that the app is shown again and whether the system has a network, on Apple systems.
///
/// The reports end when the object is released.
final class SystemEvents: Sendable {
    /// A change of the system.
    enum Event: Sendable {
        /// The app is in use again.
        case appShown
        /// The network has changed; `isOnline` is false if there is none.
        case networkChanged(isOnline: Bool)
    }

    /// What the system calls while this object lives.
    private struct Registration {
        let monitor: NWPathMonitor
        let observers: [any NSObjectProtocol]
    }

    /// The notifications of UIKit and AppKit after which an app is in use again.
    ///
    /// They are named by text: the kit also runs where neither is linked, such as in a command line tool.
    private static let appShownNotifications = [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
    ]

    private let registration: Locked<Registration>

    /// Begins to report.
    ///
    /// `onEvent`: called on any thread; the first call says whether the system has a network now.
    init(_ onEvent: @escaping @Sendable (Event) -> Void) {
        let monitor = NWPathMonitor()
        // `requiresConnection` counts as online: the next attempt to connect makes the system bring the network up, for
        // example a VPN.
        monitor.pathUpdateHandler = { path in onEvent(.networkChanged(isOnline: path.status != .unsatisfied)) }
        let observers = Self.appShownNotifications.map { name in
            NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
                onEvent(.appShown)
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
            case .appShown: engine.probe()
            case .networkChanged(let isOnline): engine.setOnline(isOnline)
            }
        }
    }
}
#endif
