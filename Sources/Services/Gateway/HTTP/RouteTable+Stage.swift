// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for a live's seats and their occupants.
extension RouteTable {
    private static let seatIndex = Schema.integer(0...Int64(Limits.seatCount - 1))

    private static let devicePart = Route.PathPart(
        name: "device", field: "device", schema: .choice(["microphone", "camera"]), summary: "The device.")

    static let stages: [Route] = [
        Route(
            method: .get, path: "/v1/lives/{live}/stage", id: "getStage", tag: "stage",
            summary: "Gives seats, connection and battle of a live.", call: "stage.get", access: .anyone,
            parts: [.live],
            success: .result("stage", [.optional("record", .named("Stage"))])),
        Route(
            method: .patch, path: "/v1/lives/{live}/guests/{user}", id: "moveGuest", tag: "stage",
            summary: "Moves someone on a seat to another seat.", call: "seat.move", parts: [.live, .user],
            body: .object([
                .required("seatIndex", Self.seatIndex),
                .optional(
                    "policy", .integer(0...2), "When taken: 0 refuses, 1 puts the occupant off, 2 swaps."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/guests/{user}", id: "kickGuest", tag: "stage",
            summary: "Takes someone off its seat.", call: "seat.kick", parts: [.live, .user],
            success: .done),
        Route(
            method: .put, path: "/v1/lives/{live}/guests/{user}", id: "placeGuest", tag: "stage",
            summary: "Puts a member of the live on a seat.", call: "seat.place", parts: [.live, .user],
            body: .object([
                .optional(
                    "seatIndex", .integer(-1...Int64(Limits.seatCount - 1)), "-1, or not named: the lowest free seat.")
            ]),
            isBodyRequired: false, success: .result("seat", [.optional("index", .count)])),
        Route(
            method: .put, path: "/v1/lives/{live}/guests/{user}/devices/{device}/lock", id: "lockDevice", tag: "stage",
            summary: "Forces a device of someone on a seat off, and keeps it off.", call: "seat.lockDevice",
            parts: [.live, .user, Self.devicePart], success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/guests/{user}/devices/{device}/lock", id: "unlockDevice",
            tag: "stage", summary: "Lets someone on a seat open a device again.", call: "seat.lockDevice",
            parts: [.live, .user, Self.devicePart], success: .done,
            // The call locks the device if it is not told otherwise.
            convertParameters: { $0.merging(["locked": false]) { _, new in new } }),
        Route(
            method: .patch, path: "/v1/lives/{live}/seats/{seat}", id: "lockSeat", tag: "stage",
            summary: "Locks or unlocks a seat and its devices; who sits on a seat that is locked is taken off first.",
            call: "seat.lock",
            parts: [
                .live, .init(name: "seat", field: "seatIndex", schema: Self.seatIndex, summary: "The seat's index."),
            ],
            body: .object([
                .optional("locked", .boolean), .optional("microphoneLocked", .boolean),
                .optional("cameraLocked", .boolean),
            ]), success: .done),
    ]
}
