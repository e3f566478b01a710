// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload in which a crowd sends more texts than a feed carries in a second (I9).
extension StageWorkload {
    /// The number of viewers who send.
    static let crowdCount = 3
    /// How many texts each viewer of the crowd sends at once.
    ///
    /// Together the viewers send 120 texts, twice the feed budget of a chaos run (`ChaosOptions`). Each viewer stays
    /// below the 60 texts that one user may send in a second.
    private static let textsAtOnce = 40
    /// The pause before the crowd sends again.
    ///
    /// It is longer than the budget's window of one second, so that the texts fill a new window each time.
    private static let pause = Duration.seconds(2)

    /// Lets all viewers of the crowd send texts at once, repeatedly.
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
