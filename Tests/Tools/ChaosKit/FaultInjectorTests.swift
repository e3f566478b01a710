// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

@testable import ChaosKit

/// Tests of faults that cannot be injected.
struct FaultInjectorTests {
    /// Tries to inject a fault into a cluster whose processes do not run, and without a battle.
    ///
    /// `canSendBurst` is whether the burst of calls, which must come right before some faults, could be sent.
    ///
    /// - Returns: why the fault was not injected; nil if it was.
    private static func inject(_ fault: Fault, canSendBurst: Bool = true) async -> String? {
        let cluster = LocalCluster(ClusterOptions(runDirectory: "unused"))
        return await FaultInjector(cluster: cluster, network: nil, clockLibrary: nil).inject(
            fault, waitForLastSecondOfBattle: { false }, sendBurst: { canSendBurst })
    }

    @Test(arguments: [
        Fault.flushRedis, .fillDisk("broker-1", seconds: 1), .interrupt(.kafka("gateway-1"), .cut, seconds: 1),
        .kill(["gateway-1"]), .freeze(["gateway-1"], seconds: 1), .setClock("gateway-1", ahead: 30, seconds: 1),
        .freezeInAppend(["gateway-1"], seconds: 1),
    ])
    func `a fault whose command fails is reported as not injected`(fault: Fault) async throws {
        let reason = try #require(await Self.inject(fault))
        #expect(reason.hasPrefix("it could not be injected: "))
    }

    @Test func `a fault that lacks the battle or the burst of calls that it needs is reported as not injected`() async {
        #expect(
            await Self.inject(.freezeAtBattleEnd(["gateway-1"], seconds: 1)) == "no battle came to its last second")
        #expect(
            await Self.inject(.freezeInAppend(["gateway-1"], seconds: 1), canSendBurst: false)
                == "no client was there to send calls")
    }
}
