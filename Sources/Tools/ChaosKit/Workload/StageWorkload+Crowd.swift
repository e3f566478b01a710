// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload in which a crowd sends more texts than a feed carries in a second (I9).
extension StageWorkload {
    /// The number of viewers who send.
    static let crowdCount = 3
    /// How many texts each of them sends at once.
    ///
    /// All of them together send twice the budget of 60 that a chaos run's app has, and each of them fewer than the 60
    /// texts that one user may send in a second.
    private static let textsAtOnce = 40
    /// The pause between two bursts.
    ///
    /// It is longer than the second that the budget is for, so that each burst finds an
    /// empty window, and fills it.
    private static let pause = Duration.seconds(2)

    /// Lets the crowd send bursts of texts.
    func runCrowd(until isOver: () -> Bool) async {
        var round = 0
        while !isOver() {
            round += 1
            await withTaskGroup(of: Void.self) { group in
                for fan in self.crowd {
                    for number in 1...Self.textsAtOnce {
                        let text = "\(fan.name) shouts \(round), \(number)"
                        group.addTask { await self.sendText(text, from: fan) }
                    }
                }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
