// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The last call of the app that opened or closed each device.
///
/// A device takes time to open. Meanwhile the app may close it and open it again.
struct DeviceCalls {
    private struct Call {
        /// Counts the calls for this device.
        let number: Int
        /// Whether the call opens the device; otherwise it closes the device.
        let opens: Bool
    }

    private var lastCalls: [Device: Call] = [:]

    /// Records the beginning of a call.
    ///
    /// - Returns: the call's number.
    mutating func begin(_ device: Device, opens: Bool) -> Int {
        let number = (self.lastCalls[device]?.number ?? 0) + 1
        self.lastCalls[device] = Call(number: number, opens: opens)
        return number
    }

    /// The number of the last call; nil if there was none.
    func lastNumber(_ device: Device) -> Int? { self.lastCalls[device]?.number }

    /// Whether no later call has opened or closed the device.
    func isLast(_ number: Int, _ device: Device) -> Bool { self.lastNumber(device) == number }

    /// Whether the last call is one that opens the device; the device may still be opening.
    func isOpened(_ device: Device) -> Bool { self.lastCalls[device]?.opens ?? false }

    /// Whether the last call opens the device, and is a later one than this.
    func isOpenedAgain(after number: Int, _ device: Device) -> Bool {
        self.isOpened(device) && !self.isLast(number, device)
    }
}
