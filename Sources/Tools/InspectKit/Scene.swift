// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
package import PlazaWire

/// A live at one time: who was present, its stage and its battle.
package struct Scene: Equatable, Sendable {
    /// The maximum number of users whose ids a scene holds; `presentCount` counts all.
    package static let maxUsers = 100

    /// The number of users who were in the live, according to the records of joins, heartbeats and leaves.
    package var presentCount = 0
    /// The ids of these users, at most `maxUsers`.
    package var present: [UserID] = []
    /// The published count of viewers, which clients show; nil if none was read.
    ///
    /// It does not include the owner, and may be a second old.
    package var shownCount: Int?
    /// Whether the published count was marked as stale.
    package var isCountStale = false
    /// The stage; nil if none was read.
    package var stage: StageRecord?

    package init() {}

    /// The occupied seats: index and user.
    package var seats: [(index: Int, user: UserID)] {
        (self.stage?.seats ?? []).compactMap { seat in seat.occupant.map { (seat.index, $0.user.userID) } }
    }

    /// The lives that share the stage through a connection, this live included.
    package var connectedLives: [LiveID] { self.stage?.connection?.members.map(\.live) ?? [] }

    /// The scene in one line for people.
    ///
    /// - Parameter maxNames: how many of the present users are named at most.
    /// - Returns: the line, without characters that a terminal would execute.
    package func text(maxNames: Int) -> String {
        var parts: [String] = []
        let named = self.present.prefix(maxNames).map(\.text).joined(separator: " ")
        let unnamedCount = self.presentCount - min(maxNames, self.present.count)
        var present = "present \(self.presentCount)"
        if !named.isEmpty { present += " (\(named)\(unnamedCount > 0 ? " and \(unnamedCount) more" : ""))" }
        if let shownCount { present += ", shown \(shownCount)\(self.isCountStale ? " stale" : "")" }
        parts.append(present)
        if self.stage != nil {
            let seats = self.seats.map { "\($0.index):\($0.user.text)" }.joined(separator: " ")
            parts.append(seats.isEmpty ? "seats empty" : "seats \(seats)")
        } else {
            parts.append("stage not read")
        }
        if !self.connectedLives.isEmpty {
            parts.append("connected " + self.connectedLives.map(\.text).joined(separator: " "))
        }
        if let battle = self.stage?.battle { parts.append(Self.text(of: battle)) }
        return SafeText.line(parts.joined(separator: "; "))
    }

    private static func text(of battle: BattleView) -> String {
        let sides = battle.sides.map { "\($0.live.text) \($0.score)\($0.hasLeft ? " (left)" : "")" }
        let end = battle.ended.map { " ended: \($0.rawValue)" } ?? ""
        return "battle \(battle.id.text) \(sides.joined(separator: " : "))\(end)"
    }

    /// The scene as JSON, for tools.
    package var json: JSONValue {
        var json: [String: JSONValue] = [
            "presentCount": .integer(Int64(self.presentCount)),
            "present": .array(self.present.map { .text($0.text) }),
        ]
        if let shownCount {
            json["shownCount"] = .integer(Int64(shownCount))
            json["isCountStale"] = .bool(self.isCountStale)
        }
        guard let stage = self.stage else { return .object(json) }
        json["seats"] = .array(
            self.seats.map { .object(["index": .integer(Int64($0.index)), "user": .text($0.user.text)]) })
        json["connectedLives"] = .array(self.connectedLives.map { .text($0.text) })
        if let battle = stage.battle, let view = try? Wire.decode(JSONValue.self, from: Wire.encode(battle)) {
            json["battle"] = view
        }
        return .object(json)
    }

    package static func == (a: Scene, b: Scene) -> Bool {
        a.presentCount == b.presentCount && a.present == b.present && a.shownCount == b.shownCount
            && a.isCountStale == b.isCountStale && a.stage == b.stage
    }
}
