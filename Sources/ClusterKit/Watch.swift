// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// The thread that sees which processes have become ready, and writes `state.json` when anything changed.
///
/// It sleeps until something changes; only while a process starts does it ask that one every 50 ms, for another
/// process's readiness comes with no event. A process that has been ready is not asked again before it dies or
/// somebody waits for readiness anew.
struct Watch: Sendable {
    let roster: Monitor<Roster>
    let write: @Sendable (Roster) -> Void

    /// Begins; ends when the roster says that it is over.
    func start() {
        let thread = Thread { self.run() }
        thread.name = "cluster-watch"
        thread.start()
    }

    private func run() {
        var written = -1
        while true {
            let now = self.roster.current
            if now.isOver { return }
            if now.version != written {
                self.write(now)
                written = now.version
            }
            let starting = now.members.filter { $0.pid != nil && !$0.isReady }
            for member in starting { self.ask(member) }
            let seen = now.version
            let pause = starting.isEmpty ? Date.distantFuture : Date(timeIntervalSinceNow: 0.05)
            // A change that is only a new pid does not hurry the next question.
            _ = self.roster.wait(until: pause) { roster in
                roster.isOver || (starting.isEmpty && roster.version != seen) ? true : nil
            }
        }
    }

    private func ask(_ member: Member) {
        guard Inquiry.isReady(member.plan.probe) else { return }
        let address: String? =
            if case .announcement(let file) = member.plan.probe {
                FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
            } else {
                nil
            }
        self.roster.update { roster in
            // The answer counts for the life that was asked.
            guard roster[member.plan.name]?.pid == member.pid else { return }
            roster[member.plan.name]?.isReady = true
            roster[member.plan.name]?.endsWithoutReady = 0
            if let address { Self.brokerMoved(to: address, in: &roster) }
            Self.releaseDemo(in: &roster)
        }
    }

    /// The embedded broker cannot come back at its old port: the services begin anew with the new one.
    private static func brokerMoved(to address: String, in roster: inout Roster) {
        let isNew = !roster.kafka.isEmpty && roster.kafka != address
        roster.kafka = address
        guard isNew else { return }
        for member in roster.members where member.plan.service != nil && member.pid != nil {
            roster[member.plan.name]?.startsAtOnce = true
            roster[member.plan.name]?.endWasAsked = true
            member.askToEnd()
        }
    }

    /// The demo plays only when there is a whole cluster to play in.
    private static func releaseDemo(in roster: inout Roster) {
        let others = roster.members.filter { $0.plan.kind != "demo" && $0.wanted != .gone }
        guard roster.members.contains(where: { $0.plan.service != nil }), others.allSatisfy({ $0.isReady }) else {
            return
        }
        for member in roster.members where member.plan.kind == "demo" && member.wanted == .held {
            roster[member.plan.name]?.wanted = .up
        }
    }
}
