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
            summary: "Moves a user from its seat to another seat.", call: "seat.move", parts: [.live, .user],
            body: .object([
                .required("seatIndex", Self.seatIndex),
                .optional(
                    "policy", .integer(0...2),
                    "If the seat is taken: 0 refuses the move, 1 removes the occupant, 2 swaps the two users."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/guests/{user}", id: "kickGuest", tag: "stage",
            summary: "Removes a user from its seat.", call: "seat.kick", parts: [.live, .user],
            success: .done),
        Route(
            method: .put, path: "/v1/lives/{live}/guests/{user}", id: "placeGuest", tag: "stage",
            summary: "Puts a member of the live on a seat.", call: "seat.place", parts: [.live, .user],
            body: .object([
                .optional(
                    "seatIndex", .integer(-1...Int64(Limits.seatCount - 1)), "-1, the default: the lowest free seat.")
            ]),
            isBodyRequired: false, success: .result("seat", [.optional("index", .count)])),
        Route(
            method: .put, path: "/v1/lives/{live}/guests/{user}/devices/{device}/lock", id: "lockDevice", tag: "stage",
            summary: "Turns off a device of a user on a seat, and keeps it off.", call: "seat.lockDevice",
            parts: [.live, .user, Self.devicePart], success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/guests/{user}/devices/{device}/lock", id: "unlockDevice",
            tag: "stage", summary: "Allows a user on a seat to turn on a device again.", call: "seat.lockDevice",
            parts: [.live, .user, Self.devicePart], success: .done,
            // Without `locked`, the call would lock the device.
            convertParameters: { $0.merging(["locked": false]) { _, new in new } }),
        Route(
            method: .patch, path: "/v1/lives/{live}/seats/{seat}", id: "lockSeat", tag: "stage",
            summary:
                "Locks or unlocks a seat or its devices; a seat that gets locked loses its occupant first.",
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
