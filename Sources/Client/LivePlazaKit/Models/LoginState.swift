// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What `LoginStore` shows.
public struct LoginState: Sendable, Hashable {
    /// Whether a user is logged in.
    public var loginStatus = LoginStatus.unlogin
    /// The user.
    public var loginUserInfo: UserProfile?
    /// How the connection is.
    public var connectionStatus = ConnectionStatus.disconnected

    /// The state at the beginning.
    public init() {}
}

/// Whether a user is logged in.
public enum LoginStatus: Int, Sendable, Hashable {
    /// One is.
    case logined
    /// None is.
    case unlogin
}

/// How a client's connection is.
public enum ConnectionStatus: Sendable, Hashable {
    /// There is none.
    case disconnected
    /// The first one is being made.
    case connecting
    /// It is up.
    case connected
    /// It was lost, and is being made again.
    case reconnecting
}

/// How a login ends that the app does not end.
public enum LoginEvent: Sendable, Hashable {
    /// Another login put this one out.
    case kickedOffline
    /// The token is not valid any more.
    case loginExpired
}

/// A user's profile.
///
/// The server keeps the name and the picture.
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
    /// Not told.
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
    /// Whom the user lets.
    case needConfirm
    /// Nobody.
    case denyAny
}
