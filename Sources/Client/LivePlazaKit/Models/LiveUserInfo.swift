// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A user as others see it.
public struct LiveUserInfo: Sendable, Hashable {
    /// The id.
    public var userID = ""
    /// The name; empty if only the id is known.
    public var userName = ""
    /// The picture; empty if there is none.
    public var avatarURL = ""

    /// Makes a user without an id.
    public init() {}

    init(userID: String, userName: String = "", avatarURL: String = "") {
        self.userID = userID
        self.userName = userName
        self.avatarURL = avatarURL
    }

    init(_ user: UserInfo) {
        self.init(userID: user.userID.text, userName: user.userName, avatarURL: user.avatarURL)
    }
}

/// The role of a user in a live.
public enum Role: Int, Sendable, Hashable {
    /// The user who runs the live.
    case owner
    /// A user to whom the owner gave rights.
    case admin
    /// Any other user.
    case generalUser

    init(_ role: LiveRole) {
        switch role {
        case .owner: self = .owner
        case .admin: self = .admin
        case .generalUser: self = .generalUser
        }
    }
}

extension [LiveUserInfo] {
    /// The list without the user.
    func without(_ userID: String) -> [LiveUserInfo] { self.filter { $0.userID != userID } }

    /// The list with the user's current name and picture; unchanged if it does not contain the user.
    func replacing(_ user: LiveUserInfo) -> [LiveUserInfo] {
        guard self.contains(where: { $0.userID == user.userID }) else { return self }
        return self.map { $0.userID == user.userID ? user : $0 }
    }
}
