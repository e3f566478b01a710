// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The seated users whose devices hosts have locked; a user who leaves its seat is removed from the lists.
package struct ClosedDevices: Equatable, Sendable, Codable {
    package var microphones: [UserID] = []
    package var cameras: [UserID] = []

    func contains(_ user: UserID, _ device: Device) -> Bool {
        switch device {
        case .microphone: self.microphones.contains(user)
        case .camera: self.cameras.contains(user)
        }
    }

    mutating func set(_ user: UserID, _ device: Device, _ isClosed: Bool) {
        switch device {
        case .microphone: Self.set(user, isClosed, in: &self.microphones)
        case .camera: Self.set(user, isClosed, in: &self.cameras)
        }
    }

    private static func set(_ user: UserID, _ isClosed: Bool, in users: inout [UserID]) {
        if let index = users.firstIndex(of: user) {
            if !isClosed { users.remove(at: index) }
        } else if isClosed {
            users.append(user)
        }
    }
}
