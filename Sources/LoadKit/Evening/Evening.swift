// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
internal import PlazaModel

/// A short live evening with real clients: two hosts, their viewers, a kick, a guest, a connection, a battle, the end.
///
/// Every step is checked from the side of each client that it concerns; the first thing that is not as it should be ends
/// the evening with an `EveningFailure`.
package struct Evening {
    /// What the evening needs of its surroundings.
    package struct Setting: Sendable {
        package var addresses: [PlazaAddress]
        /// A token for a user; for an app's own server if the flag is set.
        package var token: @Sendable (_ user: String, _ isServer: Bool) -> String
        /// Part of all names, so that evenings do not meet.
        package var name: String
        /// Takes what each side sees, a line at a time.
        package var say: @Sendable (String) -> Void

        package init(
            addresses: [PlazaAddress], name: String, token: @escaping @Sendable (String, Bool) -> String,
            say: @escaping @Sendable (String) -> Void
        ) {
            self.addresses = addresses
            self.name = name
            self.token = token
            self.say = say
        }
    }

    let setting: Setting
    let alice: Person
    let bob: Person
    let carol: Person
    let dave: Person
    let erin: Person
    let frank: Person
    /// The app's own backend.
    let shop: Person
    let aliceLive: LiveID
    let bobLive: LiveID
    private let hub: ClientHub

    /// Makes the clients; they begin to connect.
    package init(_ setting: Setting) throws {
        let hub = try ClientHub()
        func person(_ name: String, isServer: Bool = false) -> Person {
            let user = "\(setting.name)-\(name.lowercased())"
            let options = ClientCore.Options(
                token: setting.token(user, isServer), session: SessionID(user), name: name)
            return Person(name, hub.client(addresses: setting.addresses, options: options))
        }
        self.setting = setting
        self.hub = hub
        self.alice = person("Alice")
        self.bob = person("Bob")
        self.carol = person("Carol")
        self.dave = person("Dave")
        self.erin = person("Erin")
        self.frank = person("Frank")
        self.shop = person("Shop", isServer: true)
        self.aliceLive = LiveID("\(setting.name)-alice")
        self.bobLive = LiveID("\(setting.name)-bob")
    }

    /// Plays all of it.
    ///
    /// - Throws: `EveningFailure`; untyped, for the optimiser of Swift 6.3.1 crashes on the typed form in a caller.
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

    func user(_ person: Person) -> String { "\(self.setting.name)-\(person.name.lowercased())" }

    func say(_ step: String, _ lines: String...) {
        self.setting.say("• \(step)")
        for line in lines { self.setting.say("    \(line)") }
    }

    func check(_ isTrue: Bool, _ what: @autoclosure () -> String) throws(EveningFailure) {
        guard isTrue else { throw EveningFailure(what()) }
    }

    var everybody: [Person] { [self.alice, self.bob, self.carol, self.dave, self.erin, self.frank] }
    /// Who is in Alice's live from the kick on.
    var aliceRoom: [Person] { [self.alice, self.carol, self.erin] }
    var bobRoom: [Person] { [self.bob, self.frank] }
}
