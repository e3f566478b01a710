// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel

/// Calls that the directory, presence and the fan-out decide.
///
/// Each call has an expected outcome for each role. Unless an action says otherwise, the call is allowed for owner,
/// admin, viewer, seated and muted users who have joined the live, and for the app's server. `outside` is the outcome
/// for users who have not joined, and `stranger` that for a user of another app. Hosts are the owner and the admins.
/// bob is a viewer and anna an admin of the live, and bert is banned from `concert`; see `MatrixFixture`.
extension Action {
    /// A call to the directory that the owner may make and, unless `isForOwnerOnly`, the admins.
    ///
    /// `command` gets the live and the caller.
    private static func hostCall(
        _ name: String, isForOwnerOnly: Bool = false, prepare: @escaping Preparation = { _, _, _ in },
        _ command: @escaping @Sendable (LiveID, Caller) -> DirectoryCommand
    ) -> Action {
        Action(
            name, admin: isForOwnerOnly ? .needsOwner : .allowed, viewer: isForOwnerOnly ? .needsOwner : .needsHost,
            prepare: prepare
        ) { _, key, caller in .directoryCommand(key, command(key.live, caller)) }
    }

    /// One call in three variants: against a viewer (hosts and server may make it), against an admin (only owner and
    /// server may make it), and against the owner (nobody may make it).
    ///
    /// `command` gets the live, the user against whom the call is made, and the caller.
    private static func againstUser(
        _ name: String, _ command: @escaping @Sendable (LiveID, UserID, Caller) -> DirectoryCommand
    ) -> [Action] {
        [
            Action("\(name) a viewer", viewer: .needsHost) { _, key, caller in
                .directoryCommand(key, command(key.live, "bob", caller))
            },
            Action("\(name) an admin", admin: .noPermission, viewer: .needsHost) { _, key, caller in
                .directoryCommand(key, command(key.live, "anna", caller))
            },
            Action(
                "\(name) the owner", owner: .noPermission, admin: .noPermission, viewer: .needsHost,
                server: .noPermission
            ) { _, key, caller in .directoryCommand(key, command(key.live, MatrixFixture.owner(of: key.live), caller))
            },
        ]
    }

    /// A preparation in which the app's server changes the live's info.
    static func changingInfo(_ changes: LiveChanges) -> Preparation {
        { harness, key, _ in
            _ = harness.send(
                .directoryCommand(key, .updateInfo(live: key.live, changes: changes, caller: harness.server())))
        }
    }

    /// Calls to the directory.
    static let directory: [Action] =
        [
            .hostCall("end the live", isForOwnerOnly: true) { .end(live: $0, caller: $1) },
            .hostCall("set an admin", isForOwnerOnly: true) { .setAdmin(live: $0, user: "bob", caller: $1) },
            .hostCall("revoke an admin", isForOwnerOnly: true) { .revokeAdmin(live: $0, user: "anna", caller: $1) },
            .hostCall("update the info") { .updateInfo(live: $0, changes: LiveChanges(notice: "new"), caller: $1) },
            .hostCall("mute the live") {
                .updateInfo(live: $0, changes: LiveChanges(isMessageDisable: true), caller: $1)
            },
            .hostCall("turn gifts off") {
                .updateInfo(live: $0, changes: LiveChanges(isGiftEnabled: false), caller: $1)
            },
            .hostCall("set metadata") { .setMetadata(live: $0, values: ["a": "b"], caller: $1) },
            .hostCall(
                "delete metadata",
                prepare: { harness, key, _ in
                    let command = DirectoryCommand.setMetadata(
                        live: key.live, values: ["a": "b"], caller: harness.server())
                    _ = harness.send(.directoryCommand(key, command))
                }
            ) { .deleteMetadata(live: $0, keys: ["a"], caller: $1) },
            .hostCall("lift a ban") { .unban(live: $0, users: ["bert"], caller: $1) },
            .hostCall("see the bans") { .bans(live: $0, offset: 0, count: 10, caller: $1) },
            Action("see the mutes") { _, key, caller in
                .directoryCommand(key, .mutes(live: key.live, offset: 0, count: 10, caller: caller))
            },
            // A call for the app, not for a live; only the app's server may make it.
            Action(
                "change the app's words", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
                outside: .noPermission, banned: .noPermission, stranger: .noPermission
            ) { _, key, caller in
                .directoryCommand(key, .appSettings(change: .addWords(words: ["bad"]), caller: caller))
            },
        ]
        + Action.againstUser("kick") { .kick(live: $0, user: $1, caller: $2) }
        + Action.againstUser("mute") { .mute(live: $0, users: [$1], durationSeconds: 60, caller: $2) }
        + Action.againstUser("ban") { .ban(live: $0, users: [$1], durationSeconds: 60, reason: "", caller: $2) }

    /// Calls to presence.
    static let presence: [Action] = [
        Action(
            "join", server: .noPermission, outside: .allowed, banned: .rejected(.banned),
            stranger: .rejected(.noSuchRoomOnEntry)
        ) { _, key, caller in .audience(AudienceInput(key, .join(caller: caller))) },
        Action("leave", server: .notInRoom, stranger: .notInRoom) { _, key, caller in
            .audience(AudienceInput(key, .leave(caller: caller)))
        },
        Action("change one's name", server: .notInRoom) { _, key, caller in
            var caller = caller
            caller.user.userName = "Somebody Else"
            return .audience(AudienceInput(key, .profile(caller: caller)))
        },
        Action("list the audience") { _, key, caller in
            .audience(AudienceInput(key, .list(cursor: "", count: 10, caller: caller)))
        },
    ]

    private static let sendText: @Sendable (MatrixHarness, LiveKey, Caller) -> Effect = { _, key, caller in
        .barrageCommand(key, .sendText(text: "hello", extensionInfo: nil, caller: caller))
    }

    private static let sendGift: @Sendable (MatrixHarness, LiveKey, Caller) -> Effect = { _, key, caller in
        .barrageCommand(key, .sendGift(giftID: "rose", count: 1, receivers: [], caller: caller))
    }

    /// Calls to the fan-out.
    static let messages: [Action] = [
        Action("send a text", muted: .rejected(.userMuted), call: Action.sendText),
        Action("send a custom message", muted: .rejected(.userMuted)) { _, key, caller in
            .barrageCommand(key, .sendCustom(businessID: "b", data: "{}", caller: caller))
        },
        Action(
            "send a text into a muted live", viewer: .rejected(.roomMuted),
            prepare: Action.changingInfo(LiveChanges(isMessageDisable: true)), call: Action.sendText),
        Action(
            "send a text as a muted user", viewer: .rejected(.userMuted),
            prepare: { harness, key, caller in
                // Nobody may mute the owner, so a mute of the owner is rejected. A mute of an admin has no effect. A
                // duration of -1 means that the mute has no end.
                let command = DirectoryCommand.mute(
                    live: key.live, users: [caller.userID], durationSeconds: -1, caller: harness.server())
                _ = harness.send(.directoryCommand(key, command))
            }, call: Action.sendText),
        Action("send a gift", call: Action.sendGift),
        Action(
            "send a gift into a muted live", prepare: Action.changingInfo(LiveChanges(isMessageDisable: true)),
            call: Action.sendGift),
        Action(
            "send a gift where gifts are off", owner: .rejected(.giftsOffInLive), admin: .rejected(.giftsOffInLive),
            viewer: .rejected(.giftsOffInLive), server: .rejected(.giftsOffInLive),
            prepare: Action.changingInfo(LiveChanges(isGiftEnabled: false)), call: Action.sendGift),
        Action("send likes") { _, key, caller in .barrageCommand(key, .sendLikes(count: 3, caller: caller)) },
        Action(
            "send likes into a muted live", prepare: Action.changingInfo(LiveChanges(isMessageDisable: true))
        ) { _, key, caller in .barrageCommand(key, .sendLikes(count: 3, caller: caller)) },
        // Only users with a seat speak. The owner of a video live always has a seat.
        Action(
            "report one's speaking level", admin: .notOnSeat, viewer: .notOnSeat, seated: .allowed, server: .notOnSeat
        ) { _, key, caller in .barrageCommand(key, .speaking(level: 50, caller: caller)) },
        // The summary is public, like the list of lives.
        Action("see the summary", outside: .allowed) { _, key, caller in .barrageCommand(key, .summary(caller: caller))
        },
    ]
}
