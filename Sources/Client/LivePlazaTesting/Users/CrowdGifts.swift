// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import PlazaModel
internal import PlazaWire

/// The gifts that crowds send.
enum CrowdGifts {
    /// The ids of the gifts, which are also their names.
    static let ids = ["rose", "rocket", "castle"]

    /// The price of the gift with this id, in coins; it is also the gift's score in a battle.
    static func coins(of gift: String) -> Int64 { ["rose": 1, "rocket": 100, "castle": 1000][gift] ?? 1 }

    /// Adds the gifts to the app's catalogue.
    static func addToCatalogue(by backend: ScriptedUser) throws(ErrorInfo) {
        try backend.call("app.putCategory", ["category": ["categoryID": "crowd", "name": "Crowd"]])
        for gift in Self.ids {
            let giftJSON: JSONValue = [
                "giftID": .text(gift), "name": .text(gift), "coins": .integer(Self.coins(of: gift)),
            ]
            try backend.call("app.putGift", ["gift": giftJSON, "category": "crowd"])
        }
    }
}
