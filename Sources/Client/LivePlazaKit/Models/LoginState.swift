// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The state of `LoginStore`.
public struct LoginState: Sendable, Hashable {
    /// Whether a user is logged in.
    public var loginStatus = LoginStatus.unlogin
    /// The user.
    public var loginUserInfo: UserProfile?
    /// The state of the connection.
    public var connectionStatus = ConnectionStatus.disconnected

    /// Creates the initial state.
    public init() {}
}

/// Whether a user is logged in.
public enum LoginStatus: Int, Sendable, Hashable {
    /// No user is logged in.
    case unlogin
    /// A user is logged in.
    case logined
}

/// The state of a client's connection.
public enum ConnectionStatus: Sendable, Hashable {
    /// There is no connection.
    case disconnected
    /// The first connection is being opened.
    case connecting
    /// The connection is open.
    case connected
    /// The connection was lost and is being opened again.
    case reconnecting
}

/// Why a login has ended, although the app did not log out.
public enum LoginEvent: Sendable, Hashable {
    /// The user has signed in on another device, or another connection has taken over the session.
    case kickedOffline
    /// The token is not valid any more.
    case loginExpired
}

/// A user's profile.
///
/// The server keeps only the name and the picture.
public struct UserProfile: Sendable, Hashable {
    /// The id.
    public var userID: String
    /// The name.
    public var nickname: String?
    /// The picture.
    public var avatarURL: String?
    /// Not kept by the server.
    public var selfSignature: String?
    /// Not kept by the server.
    public var gender: Gender?
    /// Not kept by the server.
    public var role: UInt32?
    /// Not kept by the server.
    public var level: UInt32?
    /// Not kept by the server.
    public var birthday: UInt32?
    /// Not kept by the server.
    public var allowType: AllowType?
    /// Not kept by the server.
    public var customInfo: [String: Data]?

    /// Makes a profile.
    public init(userID: String, nickname: String? = nil, avatarURL: String? = nil) {
        self.userID = userID
        self.nickname = nickname
        self.avatarURL = avatarURL
    }
}

/// A user's gender.
public enum Gender: Int, Sendable, Hashable, CaseIterable {
    /// Not stated.
    case unknown
    /// Male.
    case male
    /// Female.
    case female
}

/// Who may become a friend of a user.
public enum AllowType: Int, Sendable, Hashable, CaseIterable {
    /// Anybody.
    case allowAny
    /// Users whom the user accepts.
    case needConfirm
    /// Nobody.
    case denyAny
}
