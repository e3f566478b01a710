// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

/// Every method with all its parameters, and the call that the parser must make of them.
///
/// Where `isRequired` is omitted, a text is a required parameter, and a number, a flag or a list is optional.
enum CallTable {
    static var all: [CallSpec] { Self.lives + Self.stage + Self.barrage + Self.apps }

    private static let live = Samples.live
    private static let key = Samples.key
    private static let caller = Samples.caller
    private static let server = Samples.server

    private static func directoryCall(_ command: DirectoryCommand) -> ParsedCall {
        .forward(.directory(DirectoryInput(app: Samples.app, command)), inLive: nil)
    }
    private static func audienceEffect(_ command: AudienceCommand) -> Effect { .audience(AudienceInput(key, command)) }
    private static func seatCall(_ command: SeatCommand) -> ParsedCall {
        .forward(.seat(SeatInput(key, command)), inLive: live)
    }
    private static func connectionCall(_ command: ConnectionCommand) -> ParsedCall {
        .forward(.connection(ConnectionInput(app: Samples.app, command)), inLive: live)
    }

    /// The parameters that make `Samples.everyChange`.
    private static let changeFields: [CallSpec.Field] = [
        .text("liveName", "Concert", isRequired: false), .text("notice", "", isRequired: false),
        .flag("isMessageDisable", true), .flag("isPublicVisible", false), .flag("keepOwnerOnSeat", false),
        .number("maxSeatCount", 6),
        .text("seatMode", "free", isRequired: false), .number("seatTemplate", 50),
        .text("coverURL", "c", isRequired: false),
        .text("backgroundURL", "b", isRequired: false), .list("categoryList", "[]"), .number("activityStatus", 1),
        .flag("isGiftEnabled", false),
        .number("maxMemberCount", 500),
    ]

    /// The calls that gateways answer, and those for the directory and for presence (the audience machine).
    static let lives: [CallSpec] = [
        CallSpec(
            "login",
            [.text("token", "t"), .text("session", "s", isRequired: false), .text("name", "A", isRequired: false)],
            .login(LoginParams(token: "t", session: "s", name: "A"))), CallSpec("ping", [], .ping),
        // A cursor of the list of lives has three parts: the gateway, the number of a snapshot, and a rank in it.
        CallSpec(
            "live.list",
            [
                .text("cursor", "g.1.1", isRequired: false), .number("count", 50), .number("category", 4),
                .text("order", "ascending", isRequired: false),
            ],
            .list(cursor: "g.1.1", count: 50, category: 4, isAscending: true)),
        CallSpec("live.get", [.live], .get(live)),
        CallSpec(
            "live.create", [.live] + changeFields,
            directoryCall(.create(live: live, changes: Samples.everyChange, owner: Samples.alice, caller: caller))),
        CallSpec(
            "live.create",
            [
                .live, .text("owner", "bob"), .text("ownerName", "Bob", isRequired: false),
                .text("ownerAvatarURL", "u", isRequired: false),
            ],
            directoryCall(
                .create(
                    live: live, changes: LiveChanges(),
                    owner: UserInfo(userID: "bob", userName: "Bob", avatarURL: "u"), caller: server)), role: .server),
        CallSpec(
            "live.update", [.live] + changeFields,
            directoryCall(.updateInfo(live: live, changes: Samples.everyChange, caller: caller))),
        CallSpec("live.end", [.live], directoryCall(.end(live: live, caller: caller))),
        CallSpec("live.join", [.live], .join(live, audienceEffect(.join(caller: caller)))),
        CallSpec("live.leave", [.live], .leave(live, audienceEffect(.leave(caller: caller)))),
        CallSpec("metadata.get", [.live, .list("keys", "[\"a\"]")], .metadata(live, keys: ["a"])),
        CallSpec(
            "metadata.set", [.live, .list("metadata", "{\"a\":\"b\"}", isRequired: true)],
            directoryCall(.setMetadata(live: live, values: ["a": "b"], caller: caller))),
        CallSpec(
            "metadata.delete", [.live, .list("keys", "[\"a\"]", isRequired: true)],
            directoryCall(.deleteMetadata(live: live, keys: ["a"], caller: caller))),
        CallSpec("admin.set", [.live, .user], directoryCall(.setAdmin(live: live, user: "bob", caller: caller))),
        CallSpec("admin.revoke", [.live, .user], directoryCall(.revokeAdmin(live: live, user: "bob", caller: caller))),
        CallSpec(
            "audience.list", [.live, .text("cursor", "c", isRequired: false), .number("count", 200)],
            .forward(audienceEffect(.list(cursor: "c", count: 200, caller: caller)), inLive: live)),
        CallSpec("audience.count", [.live], .count(live)),
        CallSpec(
            "self.update", [.text("name", "A", isRequired: false), .text("avatarURL", "u", isRequired: false)],
            .updateProfile(name: "A", avatarURL: "u")),
        CallSpec(
            "live.ban",
            [.live, .users, .number("duration", 600, isRequired: true), .text("reason", "spam", isRequired: false)],
            directoryCall(.ban(live: live, users: ["bob"], durationSeconds: 600, reason: "spam", caller: caller))),
        CallSpec("live.unban", [.live, .users], directoryCall(.unban(live: live, users: ["bob"], caller: caller))),
        CallSpec(
            "live.bans", [.live, .number("offset", 100), .number("count", 50)],
            directoryCall(.bans(live: live, offset: 100, count: 50, caller: caller))),
        CallSpec(
            "live.mute", [.live, .users, .number("duration", 0, isRequired: true)],
            directoryCall(.mute(live: live, users: ["bob"], durationSeconds: 0, caller: caller))),
        CallSpec(
            "live.mutes", [.live, .number("offset", 0), .number("count", 1)],
            directoryCall(.mutes(live: live, offset: 0, count: 1, caller: caller))),
        CallSpec("audience.kick", [.live, .user], directoryCall(.kick(live: live, user: "bob", caller: caller))),
    ]

    /// The calls for the seat and connection machines, and `stage.get`.
    static let stage: [CallSpec] = [
        CallSpec("stage.get", [.live], .stage(live)),
        CallSpec(
            "seat.apply",
            [.live, .number("seatIndex", 3), .number("timeout", 30), .text("extraInfo", "x", isRequired: false)],
            seatCall(.apply(seatIndex: 3, timeoutSeconds: 30, extraInfo: "x", caller: caller))),
        CallSpec("seat.cancelApplication", [.live], seatCall(.cancelApplication(caller: caller))),
        CallSpec("seat.acceptApplication", [.live, .user], seatCall(.acceptApplication(user: "bob", caller: caller))),
        CallSpec("seat.rejectApplication", [.live, .user], seatCall(.rejectApplication(user: "bob", caller: caller))),
        CallSpec(
            "seat.invite",
            [
                .live, .user, .number("seatIndex", 3), .number("timeout", 30),
                .text("extraInfo", "x", isRequired: false),
            ],
            seatCall(.invite(user: "bob", seatIndex: 3, timeoutSeconds: 30, extraInfo: "x", caller: caller))),
        CallSpec("seat.cancelInvitation", [.live, .user], seatCall(.cancelInvitation(user: "bob", caller: caller))),
        CallSpec("seat.acceptInvitation", [.live, .user], seatCall(.acceptInvitation(inviter: "bob", caller: caller))),
        CallSpec("seat.rejectInvitation", [.live, .user], seatCall(.rejectInvitation(inviter: "bob", caller: caller))),
        CallSpec(
            "seat.take", [.live, .number("seatIndex", 3, isRequired: true)],
            seatCall(.take(seatIndex: 3, caller: caller))),
        CallSpec("seat.leave", [.live], seatCall(.leave(caller: caller))),
        CallSpec("seat.kick", [.live, .user], seatCall(.kickOff(user: "bob", caller: caller))),
        CallSpec(
            "seat.move",
            [
                .live, .text("user", "bob", isRequired: false), .number("seatIndex", 4, isRequired: true),
                .number("policy", 2),
            ], seatCall(.move(user: "bob", to: 4, policy: .swapPosition, caller: caller))),
        CallSpec(
            "seat.lock",
            [
                .live, .number("seatIndex", 1, isRequired: true), .flag("locked", false),
                .flag("microphoneLocked", true),
                .flag("cameraLocked", true),
            ], seatCall(.lock(seatIndex: 1, isLocked: false, microphone: true, camera: true, caller: caller))),
        CallSpec(
            "seat.device",
            [
                .live, .flag("microphone", true), .flag("camera", false),
                .text("suspend", "inCalling", isRequired: false),
            ],
            seatCall(.device(microphone: true, camera: false, suspend: .inCalling, caller: caller))),
        CallSpec(
            "seat.lockDevice", [.live, .user, .text("device", "camera"), .flag("locked", false)],
            seatCall(.lockDevice(user: "bob", device: .camera, isLocked: false, caller: caller))),
        CallSpec(
            "seat.place", [.live, .user, .number("seatIndex", 4)],
            .forward(.seat(SeatInput(key, .place(user: "bob", seatIndex: 4, caller: server))), inLive: nil),
            role: .server), CallSpec("seat.requests", [.live], seatCall(.requests(caller: caller))),
        CallSpec(
            "cohost.request",
            [
                .live, .to, .number("layoutTemplate", 601), .number("timeout", 30),
                .text("extensionInfo", "x", isRequired: false),
            ],
            connectionCall(
                .request(
                    from: live, to: ["duet"], layoutTemplate: 601, timeoutSeconds: 30, extensionInfo: "x",
                    caller: caller)
            )),
        CallSpec(
            "cohost.cancel", [.live, .to], connectionCall(.cancelRequest(from: live, to: ["duet"], caller: caller))),
        CallSpec(
            "cohost.accept", [.live, .text("inviter", "duet")],
            connectionCall(.accept(live: live, inviter: "duet", caller: caller))),
        CallSpec(
            "cohost.reject", [.live, .text("inviter", "duet")],
            connectionCall(.reject(live: live, inviter: "duet", caller: caller))),
        CallSpec("cohost.exit", [.live], connectionCall(.exit(live: live, caller: caller))),
        CallSpec("cohost.requests", [.live], connectionCall(.openRequests(live: live, caller: caller))),
        CallSpec("battle.requests", [.live], connectionCall(.openBattleRequests(live: live, caller: caller))),
        CallSpec(
            "cohost.candidates", [.live, .text("cursor", "g.1.1", isRequired: false)],
            .candidates(live, cursor: "g.1.1", caller: caller)),
        CallSpec(
            "cohost.muteRemote", [.live, .text("other", "duet"), .flag("muted", false)],
            connectionCall(.muteRemote(live: live, other: "duet", isMuted: false, caller: caller))),
        CallSpec(
            "battle.create",
            [
                .live, .to, .number("duration", 120), .flag("needResponse", true), .number("timeout", 30),
                .text("extensionInfo", "x", isRequired: false),
            ],
            .forward(
                .connection(
                    ConnectionInput(
                        app: Samples.app,
                        .requestBattle(
                            from: live, to: ["duet"], durationSeconds: 120, needResponse: true, timeoutSeconds: 30,
                            extensionInfo: "x", caller: server))), inLive: nil), role: .server),
        CallSpec(
            "battle.get", [.text("battle", "b-6")],
            .forward(
                .connection(
                    ConnectionInput(app: Samples.app, .battleInfo(battle: "b-6", live: nil, caller: server))),
                inLive: nil), role: .server),
        CallSpec(
            "battle.get", [.live],
            .forward(
                .connection(
                    ConnectionInput(app: Samples.app, .battleInfo(battle: nil, live: live, caller: server))),
                inLive: nil), role: .server),
        CallSpec(
            "battle.request",
            [
                .live, .to, .number("duration", 120), .flag("needResponse", true), .number("timeout", 30),
                .text("extensionInfo", "x", isRequired: false),
            ],
            connectionCall(
                .requestBattle(
                    from: live, to: ["duet"], durationSeconds: 120, needResponse: true, timeoutSeconds: 30,
                    extensionInfo: "x", caller: caller))),
        CallSpec(
            "battle.cancel", [.live, .text("battle", "b-6"), .to],
            connectionCall(.cancelBattle(battle: "b-6", live: live, to: ["duet"], caller: caller))),
        CallSpec(
            "battle.accept", [.live, .text("battle", "b-6")],
            connectionCall(.acceptBattle(battle: "b-6", live: live, caller: caller))),
        CallSpec(
            "battle.reject", [.live, .text("battle", "b-6")],
            connectionCall(.rejectBattle(battle: "b-6", live: live, caller: caller))),
        CallSpec(
            "battle.exit", [.live, .text("battle", "b-6")],
            connectionCall(.exitBattle(battle: "b-6", live: live, caller: caller))),
        CallSpec(
            "battle.score",
            [
                .text("battle", "b-6"), .number("operation", 2),
                .list("scores", "[{\"live\":\"duet\",\"score\":5}]", isRequired: true),
            ],
            .forward(
                .connection(
                    ConnectionInput(
                        app: Samples.app,
                        .updateScores(
                            battle: "b-6", operation: .overwrite, scores: [ScoreUpdate(live: "duet", score: 5)],
                            caller: server))), inLive: nil), role: .server),
    ]
}
