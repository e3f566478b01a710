// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import PlazaModel
internal import PlazaWire

/// The battle that a crowd's live is in.
struct CrowdBattle: Sendable {
    private let id: String
    private let liveID: String
    private let backend: ScriptedUser

    /// Creates the crowd's live if it does not exist, and then begins a battle of five minutes if `crowd.hasBattle`.
    ///
    /// - Returns: The battle; nil if the live existed before, or the crowd has no battle.
    static func prepare(
        _ crowd: Crowd, _ liveID: String, _ cluster: SimulatedCluster, _ backend: ScriptedUser
    ) throws(ErrorInfo) -> CrowdBattle? {
        do throws(ErrorInfo) {
            try backend.call("live.get", ["live": .text(liveID)])
            return nil
        } catch {
            // There is no such live.
            let host = try cluster.user("\(liveID)-host", userName: "Host")
            try host.createLive(liveID, name: liveID)
            guard crowd.hasBattle else { return nil }
            let rivalID = "\(liveID)-rival"
            let rival = try cluster.user("\(rivalID)-host", userName: "Rival")
            try rival.createLive(rivalID, name: rivalID)
            try host.requestCoHost([rivalID], from: liveID)
            try rival.answerCoHost(of: liveID, accept: true, in: rivalID)
            let battleID = try host.startBattle(with: [rivalID], seconds: 300, in: liveID)
            return CrowdBattle(id: battleID, liveID: liveID, backend: backend)
        }
    }

    /// Adds the price of a gift to the live's score; has no effect when the battle is over.
    func addScore(of gift: String) {
        let score: JSONValue = ["live": .text(self.liveID), "score": .integer(CrowdGifts.coins(of: gift))]
        _ = try? self.backend.call("battle.score", ["battle": .text(self.id), "scores": [score]])
    }
}
