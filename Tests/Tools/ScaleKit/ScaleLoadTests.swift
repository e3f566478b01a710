// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import Testing

@testable import ScaleKit

/// Tests of the kinds of work of a scale test.
struct ScaleLoadTests {
    private static func plan(partitions: Int) -> ScalePlan {
        let apps = ScaleLoad.coHostApps(partitions: partitions)
        return ScalePlan(services: ServiceKind.allCases, coHostApps: apps, name: "test") { _, _ in "" }
    }

    @Test func `every service has work, and names made from the work are different`() {
        #expect(Set(ScaleLoad.allCases.map(\.service)) == Set(ServiceKind.allCases))
        #expect(Set(ScaleLoad.allCases.map(\.shortName)).count == ScaleLoad.allCases.count)
        #expect(Set(ScaleLoad.allCases.map(\.title)).count == ScaleLoad.allCases.count)
    }

    @Test func `the service of seats and co-hosts is tested with both`() {
        let plan = ScalePlan(services: [.cohostBattle, .gateway], coHostApps: ["a"], name: "test") { _, _ in "" }
        #expect(plan.loads == [.seats, .coHost, .gateway])
    }

    @Test(arguments: [4, 12, 64]) func `co-hosts are spread over apps, one in each partition`(partitions: Int) {
        let apps = Self.plan(partitions: partitions).apps(of: .coHost)
        #expect(apps.map { PlazaTopic.partition(of: $0, among: partitions) } == Array(0..<partitions))
        #expect(apps.allSatisfy { AppID.isValid($0) })
    }

    @Test func `each user makes fewer reads than the rate limit allows`() {
        // A user may make 20 reads a second.
        #expect(Self.plan(partitions: 4).interval(of: .gateway) > .milliseconds(50))
    }

    @Test func `each app of co-hosts has a pair of lives, and other work has one app`() {
        #expect(Self.plan(partitions: 4).lives(of: .coHost) == 24)
        #expect(Self.plan(partitions: 64).lives(of: .coHost) == 128)
        #expect(Self.plan(partitions: 64).lives(of: .seats) == 24)
        #expect(Self.plan(partitions: 64).apps(of: .seats) == [AppsFile.demoApp])
    }

    @Test func `I15 a live may show its last acknowledged call, and later ones whose outcome is unknown`() {
        var calls = VisibleCalls()
        #expect(calls.numbers == [0])
        calls.recordUnacknowledged(1)
        #expect(calls.numbers == [0, 1])
        calls.recordAcknowledged(2)
        calls.recordUnacknowledged(3)
        #expect(calls.numbers == [2, 3])
    }
}
