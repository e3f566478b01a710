// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

extension PlazaEngine {
    /// The devices whose report to the seat the server has not answered yet.
    var reportingDevices: Set<Device> { Set(self.deviceReports.filter { $0.value > 0 }.keys) }

    /// Reports the state of a device to the seat, if the user sits on one.
    func reportDevice(_ device: Device, isOn: Bool) async throws(ErrorInfo) {
        let liveID = self.currentLiveID
        let seats = self.states(of: liveID).seat.seatList
        if liveID.isEmpty || OwnSeat(of: self.selfID, in: seats, liveID: liveID) == nil { return }
        try await self.reportDevice(device, isOn: isOn, in: liveID)
    }

    /// Reports the state of a device to the user's seat in a live.
    func reportDevice(_ device: Device, isOn: Bool, in liveID: String) async throws(ErrorInfo) {
        self.deviceReports[device, default: 0] += 1
        defer { self.deviceReports[device, default: 0] -= 1 }
        _ = try await self.perform(StoreCall("seat.device", [device.rawValue: .bool(isOn)]), in: liveID)
    }
}
