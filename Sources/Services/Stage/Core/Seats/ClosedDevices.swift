// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The seated users whose devices hosts have locked; a user who leaves its seat is removed from the lists.
///
/// `Closed` stands for a lock on a user. A lock on a seat, which applies to any occupant, is stored in `Seat`.
package struct ClosedDevices: Equatable, Sendable, Codable {
    package var microphones: [UserID] = []
    package var cameras: [UserID] = []

    /// Whether a host has locked the user's `device`.
    func contains(_ user: UserID, _ device: Device) -> Bool {
        switch device {
        case .microphone: self.microphones.contains(user)
        case .camera: self.cameras.contains(user)
        }
    }

    /// Adds the user to the users whose `device` is closed, or removes the user.
    mutating func set(_ device: Device, of user: UserID, isClosed: Bool) {
        switch device {
        case .microphone: Self.set(user, isClosed: isClosed, in: &self.microphones)
        case .camera: Self.set(user, isClosed: isClosed, in: &self.cameras)
        }
    }

    private static func set(_ user: UserID, isClosed: Bool, in users: inout [UserID]) {
        if let index = users.firstIndex(of: user) {
            if !isClosed { users.remove(at: index) }
        } else if isClosed {
            users.append(user)
        }
    }
}
