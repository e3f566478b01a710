// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import LivePlazaCombine
internal import PlazaModel

/// The login of a client.
public final class LoginStore: NSObject, @unchecked Sendable {
    private let engine: PlazaEngine
    private let appID = Locked<Int32>(0)

    /// The user, if one is logged in.
    ///
    /// A client that reconnects stays logged in.
    public let state = StatePublisher(initialState: LoginState())
    /// Publishes why a login has ended although the app did not log out: a login elsewhere, or an invalid token.
    public let loginEventPublisher = PassthroughSubject<LoginEvent, Never>()

    init(engine: PlazaEngine) { self.engine = engine }

    /// The store of the default client.
    public static var shared: LoginStore { LivePlaza.shared.loginStore }

    /// The app of the last login; 0 before the first one.
    public var sdkAppID: Int32 { self.appID.withLock { $0 } }

    /// Connects and logs in.
    ///
    /// - Parameters:
    ///   - sdkAppID: the number of the app. If the token names another number, the error is `sdkAppIDNotFound`. If the
    ///     token names the app by a text that is no number, the app is not compared.
    ///   - userID: the user's id, which must be that in the token; otherwise the error is `invalidParameter`.
    ///   - userSig: the token, a JWT that the app's server has signed; empty to ask the token provider.
    ///   - completion: errors: `tokenInvalid`, `tokenExpired`, `overLimit`, `timedOut`; `failed` if a user is logged
    ///     in already; `invalidParameter` if no gateway is configured.
    public func login(sdkAppID: Int32, userID: String, userSig: String, completion: CompletionClosure?) {
        self.engine.start(completion, self.loginOperation(sdkAppID, userID, userSig))
    }

    /// Connects and logs in; see the method with a completion.
    public func login(sdkAppID: Int32, userID: String, userSig: String) async throws(ErrorInfo) {
        try await self.loginOperation(sdkAppID, userID, userSig)(self.engine)
    }

    /// Leaves the live, and disconnects.
    ///
    /// - Parameter completion: errors: `notLoggedIn`.
    public func logout(completion: CompletionClosure?) {
        self.engine.start(completion) { engine async throws(ErrorInfo) in try await engine.logout() }
    }

    /// Leaves the live, and disconnects.
    public func logout() async throws(ErrorInfo) { try await self.engine.logout() }

    /// Changes the user's name and picture for others.
    ///
    /// A field that is nil stays as it is.
    ///
    /// - Parameters:
    ///   - userProfile: `nickname` of at most 100 bytes and `avatarURL` of at most 200; other fields are not kept.
    ///   - completion: errors: `noPermission` if the token contains the field, `badParameter`.
    public func setSelfInfo(userProfile: UserProfile, completion: CompletionClosure?) {
        self.engine.start(completion, self.setSelfInfoOperation(userProfile))
    }

    /// Changes how others see the user; see the method with a completion.
    public func setSelfInfo(userProfile: UserProfile) async throws(ErrorInfo) {
        try await self.setSelfInfoOperation(userProfile)(self.engine)
    }

    private func loginOperation(_ appID: Int32, _ userID: String, _ userSig: String) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            try Self.checkApp(appID, of: userSig)
            let user = try await engine.login(token: userSig.isEmpty ? nil : userSig)
            do throws(ErrorInfo) {
                // The token may have come from the token provider, after the first check.
                try Self.checkApp(appID, of: engine.connection?.core.token ?? "")
                if user.userID != userID {
                    throw ErrorInfo(.invalidParameter, "the token is for \(user.userID), not for \(userID)")
                }
            } catch {
                try await engine.logout()
                throw error
            }
            self.appID.withLock { $0 = appID }
        }
    }

    /// Throws if the token names the app by a number other than this one.
    private static func checkApp(_ appID: Int32, of token: String) throws(ErrorInfo) {
        guard let app = TokenValue.app(of: token), let number = Int64(app), number != Int64(appID) else { return }
        throw ErrorInfo(
            code: ErrorInfo.sdkAppIDNotFoundCode, message: "the token is for the app \(app), not for \(appID)")
    }

    private func setSelfInfoOperation(_ profile: UserProfile) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            try await engine.setSelfInfo(name: profile.nickname, avatarURL: profile.avatarURL)
        }
    }
}

extension LoginStore: LoginSink {
    /// Shows the state of the login; called on the delivery queue.
    func show(_ state: LoginState) {
        if self.state.value != state { self.state.value = state }
    }

    /// Publishes why the login has ended; called on the delivery queue.
    func publish(_ event: LoginEvent) { self.loginEventPublisher.send(event) }
}
