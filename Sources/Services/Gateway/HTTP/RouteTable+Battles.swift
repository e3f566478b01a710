// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for battles.
extension RouteTable {
    private static let battlePart = Route.PathPart(
        name: "battle", field: "battle", schema: Route.identifier(64), summary: "The battle's id.")
    private static let battleInfo = Route.Success.result("battleInfo", [.required("details", .named("BattleDetails"))])

    static let battles: [Route] = [
        Route(
            method: .post, path: "/v1/battles", id: "createBattle", tag: "battles",
            summary: "Invites connected lives to a battle, or begins a battle with them at once.",
            call: "battle.create",
            body: .object([
                .required("live", Route.liveID, "The inviting live."),
                .required("to", .list(of: Route.liveID, 1...Limits.coHostTargets), "The invited lives."),
                .optional("duration", .count, "How long the battle lasts, in seconds; 0: as long as the app allows."),
                .optional(
                    "needResponse", .boolean, "True: the lives must accept; false: the battle begins at once."),
                .optional(
                    "timeout", .integer(0...Limits.requestTimeoutSeconds.upperBound),
                    "How many seconds the lives have to accept."),
                .optional("extensionInfo", .text(0...Limits.extraInfoBytes)),
            ]),
            success: .init(
                status: 201,
                result: ResponseSchemas.result(
                    "battle",
                    [
                        .required("battle", .string), .optional("startTime", .int, "Milliseconds since 1970."),
                        .optional("endTime", .int, "Milliseconds since 1970."),
                        .required("codes", .list(of: .named("LiveCode"), 0...Limits.coHostLives)),
                    ]))),
        Route(
            method: .get, path: "/v1/battles/{battle}", id: "getBattle", tag: "battles",
            summary: "Gives a battle with its invitations and scores.", call: "battle.get",
            parts: [Self.battlePart], success: Self.battleInfo),
        Route(
            method: .get, path: "/v1/lives/{live}/battle", id: "getBattleOfLive", tag: "battles",
            summary: "Gives the battle that a live is in; 404 with the code 100418 if it is in none.",
            call: "battle.get",
            parts: [.live], success: Self.battleInfo),
        Route(
            method: .post, path: "/v1/battles/{battle}/scores", id: "setScores", tag: "battles",
            summary: "Changes the scores of lives in a battle; the response has one code for each live.",
            call: "battle.score",
            parts: [Self.battlePart],
            body: .object([
                .optional("operation", .integer(1...2), "1, the default, adds to the scores; 2 overwrites them."),
                .required(
                    "scores",
                    .list(
                        of: .object([.required("live", Route.liveID), .required("score", .int)]), 1...Limits.coHostLives
                    )),
            ]),
            success: .result(
                "scores", [.required("codes", .list(of: .named("LiveCode"), 0...Limits.coHostLives))])),
    ]
}
