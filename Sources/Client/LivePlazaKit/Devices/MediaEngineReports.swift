// SPDX-License-Identifier: Apache-2.0

/// Receives what a media engine measures, and shows it in the stores.
///
/// `DeviceStore` hands this object to the app's engine by `MediaEngine.setReports(_:)`. The methods may be called on
/// any thread. The states change on the delivery queue, in the order of the reports and of the app's calls. The reports
/// of an engine that the app has replaced have no effect. The object does not retain the store.
public final class MediaEngineReports: Sendable {
    private weak let devices: DeviceStore?

    init(_ devices: DeviceStore) { self.devices = devices }

    /// Shows how loud the user speaks now, as `DeviceState.currentMicVolume`.
    ///
    /// The volume of a microphone that is not open stays 0.
    ///
    /// - Parameter volume: 0 to 100; a value outside is replaced by the nearest bound.
    public func microphoneVolumeChanged(_ volume: Int) {
        let volume = min(max(volume, 0), 100)
        self.devices?.change(by: self) { state in
            if state.microphoneStatus == .on { state.currentMicVolume = volume }
        }
    }

    /// Shows the quality of the user's network, as `DeviceState.networkInfo`.
    public func networkInfoChanged(_ info: NetworkInfo) {
        self.devices?.change(by: self) { $0.networkInfo = info }
    }

    /// Shows the measurements of the users whose media are sent or played, as `LiveSeatState.avStatistics` of the live
    /// that the client is in.
    ///
    /// - Parameter statistics: an element for each user; they replace all former ones.
    public func statisticsChanged(_ statistics: [AVStatistics]) {
        self.devices?.showStatistics(statistics, by: self)
    }
}
