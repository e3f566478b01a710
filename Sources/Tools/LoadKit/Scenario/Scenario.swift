// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
package import ProtocolClient

/// A short live with real clients: two hosts, their viewers, a kick, a guest, a co-host connection, a battle, the end.
///
/// Each step checks what the clients receive. The first difference ends the scenario with a `ScenarioFailure`.
package struct Scenario {
    /// What the scenario or an evening (`EveningRunner`) needs from its environment.
    package struct Setting: Sendable {
        package var addresses: [PlazaAddress]
        /// Makes a token for a user; if `isServer` is true, the token has the role of the app's own server.
        package var token: @Sendable (_ user: String, _ isServer: Bool) -> String
        /// The beginning of the names of lives and users, different in each scenario; the evening has names of its own.
        package var name: String
        /// Called with each line of text about a step.
        package var say: @Sendable (String) -> Void

        package init(
            addresses: [PlazaAddress], name: String,
            token: @escaping @Sendable (_ user: String, _ isServer: Bool) -> String,
            say: @escaping @Sendable (String) -> Void
        ) {
            self.addresses = addresses
            self.name = name
            self.token = token
            self.say = say
        }
    }

    let setting: Setting
    let alice: DemoUser
    let bob: DemoUser
    let carol: DemoUser
    let dave: DemoUser
    let erin: DemoUser
    let frank: DemoUser
    /// The app's own server, which sends scores.
    let appServer: DemoUser
    let aliceLive: LiveID
    let bobLive: LiveID
    private let hub: ClientHub

    /// Makes the clients, which begin to connect.
    ///
    /// - Throws: an error when the system has no thread or descriptor left.
    package init(_ setting: Setting) throws {
        let hub = try ClientHub()
        func participant(_ name: String, isServer: Bool = false) -> DemoUser {
            let user = "\(setting.name)-\(name.lowercased())"
            let options = BareClientCore.Options(
                token: setting.token(user, isServer), session: SessionID(user), name: name)
            return DemoUser(name, hub.client(addresses: setting.addresses, options: options))
        }
        self.setting = setting
        self.hub = hub
        self.alice = participant("Alice")
        self.bob = participant("Bob")
        self.carol = participant("Carol")
        self.dave = participant("Dave")
        self.erin = participant("Erin")
        self.frank = participant("Frank")
        self.appServer = participant("Shop", isServer: true)
        self.aliceLive = LiveID("\(setting.name)-alice")
        self.bobLive = LiveID("\(setting.name)-bob")
    }

    /// Runs all steps.
    ///
    /// - Throws: `ScenarioFailure`; untyped, because the optimizer of Swift 6.3.1 crashes on the typed form in a
    ///   caller.
    package func play() async throws {
        defer { self.hub.stop() }
        try await self.open()
        try await self.enter()
        try await self.chat()
        try await self.kick()
        try await self.seatGuest()
        try await self.connect()
        try await self.battle()
        try await self.end()
    }

    /// The user id of a participant.
    func user(_ participant: DemoUser) -> UserID {
        UserID("\(self.setting.name)-\(participant.name.lowercased())")
    }

    /// Prints that a step went as expected, and `lines` about what each side saw.
    func report(_ step: String, _ lines: String...) {
        self.setting.say("• \(step)")
        for line in lines { self.setting.say("    \(line)") }
    }

    /// Throws a failure with the text `failure` unless the condition is true.
    func check(_ isTrue: Bool, _ failure: @autoclosure () -> String) throws(ScenarioFailure) {
        guard isTrue else { throw ScenarioFailure(failure()) }
    }

    var allUsers: [DemoUser] { [self.alice, self.bob, self.carol, self.dave, self.erin, self.frank] }
    /// The members of Alice's live after the kick.
    var aliceMembers: [DemoUser] { [self.alice, self.carol, self.erin] }
    var bobMembers: [DemoUser] { [self.bob, self.frank] }
}
