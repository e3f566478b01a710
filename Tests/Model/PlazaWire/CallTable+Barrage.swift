// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

extension CallTable {
    private static func barrageCall(_ command: BarrageCommand) -> ParsedCall {
        .forward(.barrage(BarrageInput(Samples.key, command)), inLive: Samples.live)
    }

    /// The caller of a gift that an app's server sends in the name of Bob.
    private static var serverInNameOfBob: Caller {
        var caller = Samples.server
        caller.user = UserInfo(userID: "bob", userName: "Bob", avatarURL: "u")
        return caller
    }

    /// The calls that the fan-out (the barrage machine) answers.
    static let barrage: [CallSpec] = [
        CallSpec(
            "barrage.sendText", [.live, .text("text", "hello"), .list("extensionInfo", "{\"k\":\"v\"}")],
            Self.barrageCall(.sendText(text: "hello", extensionInfo: ["k": "v"], caller: Samples.caller))),
        CallSpec(
            "barrage.sendCustom", [.live, .text("businessID", "gift"), .text("data", "{}")],
            Self.barrageCall(.sendCustom(businessID: "gift", data: "{}", caller: Samples.caller))),
        CallSpec(
            "gift.send", [.live, .text("gift", "rose"), .number("count", 3), .list("receivers", "[\"bob\"]")],
            Self.barrageCall(.sendGift(giftID: "rose", count: 3, receivers: ["bob"], caller: Samples.caller))),
        CallSpec(
            "gift.send",
            [
                .live, .text("gift", "rose"), .text("from", "bob", isRequired: false),
                .text("fromName", "Bob", isRequired: false), .text("fromAvatarURL", "u", isRequired: false),
            ],
            .forward(
                .barrage(
                    BarrageInput(
                        Samples.key, .sendGift(giftID: "rose", count: 1, receivers: [], caller: Self.serverInNameOfBob))
                ),
                inLive: nil), role: .server),
        CallSpec(
            "like.send", [.live, .number("count", 7)],
            Self.barrageCall(.sendLikes(count: 7, caller: Samples.caller))),
        CallSpec(
            "seat.speaking", [.live, .number("level", 60, isRequired: true)],
            Self.barrageCall(.speaking(level: 60, caller: Samples.caller))),
        CallSpec(
            "live.summary", [.live],
            .forward(.barrage(BarrageInput(Samples.key, .summary(caller: Samples.caller))), inLive: nil)),
    ]
}
