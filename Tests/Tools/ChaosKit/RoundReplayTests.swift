// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Settings
import Testing

@testable import ChaosKit

/// Tests that the options printed for a broken round run the same round again.
struct RoundReplayTests {
    /// The words of a command line, as a shell splits it.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "'" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == "\\", !isQuoted {
                isEscaped = true
            } else if character == " ", !isQuoted {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let last = word { words.append(last) }
        return words
    }

    /// The options that `plaza chaos` reads from these arguments.
    private static func options(_ arguments: [String]) throws -> ChaosOptions {
        var reader = SettingsReader(program: "plaza chaos", summary: "", arguments: arguments, environment: [:])
        return try ChaosOptions(&reader)
    }

    /// The round that a run with these options runs first, and the options of its cluster.
    private static func round(_ options: ChaosOptions) throws -> (round: ChaosRound, cluster: ClusterOptions) {
        var cluster = options.cluster
        let network = try ChaosNetwork(for: &cluster)
        defer { network.stop() }
        let shape = ClusterShape(of: cluster, links: network.links, hasFakeClock: options.clockLibrary != nil)
        let schedule = FaultSchedule(seed: UInt64(options.seed), shape: shape, only: options.only)
        return (schedule.round(options.rounds.lowerBound), cluster)
    }

    @Test(arguments: [
        "--seed 7 --round 12", "--seed 7 --round 31 --instances 1 --only kill",
        "--seed 401 --round 3 --brokers 3 --kafka-home '/opt/my kafka' --faketime none",
        "--seed 8 --round 90 --kafka-home /kafka --faketime '/lib/it'\\''s.so' --instances 4",
        "--seed 8 --round 2 --only 'wrong clock' --kafka-home /kafka --faketime /lib/clock.so",
    ])
    func `the options that a report prints for a round give the same fault at the same time`(line: String) throws {
        let options = try Self.options(Self.words(line))
        let (round, cluster) = try Self.round(options)
        var result = RoundResult(
            seed: UInt64(options.seed), only: options.only, number: round.number, fault: round.fault.description,
            kind: round.fault.kind, longestPause: 0, admitted: 1, refused: [:], missing: 0, repeated: 0, reordered: 0,
            falseLeaves: 0, battles: 1, requests: 1, findings: ["I8: lost"])
        result.setReplay(cluster, clockLibrary: options.clockLibrary)
        // A user takes the options from the text of a report, which may have been made from the report's JSON.
        let report = try ChaosReport(json: ChaosReport(rounds: [result]).json)
        let marker = "again: plaza chaos "
        let hint = try #require(report.table.split(separator: "\n").first { $0.contains(marker) })
        let replayed = try Self.options(
            Self.words(String(hint[try #require(hint.firstRange(of: marker)).upperBound...])))
        #expect(replayed.rounds == round.number...round.number)
        #expect(replayed.clockLibrary == options.clockLibrary)
        #expect(replayed.cluster.broker == options.cluster.broker)
        #expect(try Self.round(replayed).round == round)
    }
}
