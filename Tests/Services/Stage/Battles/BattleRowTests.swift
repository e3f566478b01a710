// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Rows that can be decoded although no machine writes them: a machine that restores one must not crash.
@Suite struct BattleRowTests {
    // With the first argument, the row has no view: the battle is only requested. With the second argument, the row has
    // a view without sides: the battle is running. The duration is `Int64.max`, and no calculation may overflow.
    @Test(arguments: ["", #","view":{"id":"b-6","extensionInfo":"","startTime":1,"endTime":2,"sides":[]}"#])
    func `a battle whose row has no sides ends without a webhook event`(viewJSON: String) throws {
        let json = #"""
            {"battle":{"battle":{"id":"b-6","inviter":"room","asked":[],"createdAt":1,
            "durationSeconds":9223372036854775807,"needResponse":true,"extensionInfo":"","invitees":[
            {"live":"duet","hasAccepted":false}],"expiresAt":2,"isDirty":false\#(viewJSON)}}}
            """#
        var policy = AppPolicy()
        policy.hasWebhooks = true
        var harness = MachineHarness(ConnectionMachine(policies: Policies(["demo": policy])))
        let row = try JSONDecoder().decode(ConnectionRow.self, from: Data(json.utf8))
        harness.rows.restore(.battle("demo", "b-6"), row)
        // The request expires, or the battle ends, at 2 ms. The clock of the harness is far beyond that time.
        let effects = harness.advance(.seconds(1))
        #expect(
            !effects.contains { if case .webhook = $0 { true } else { false } },
            "a webhook event would list the battle's sides, but this row has none")
        #expect(harness.rows.nextDue == nil, "expected the battle to have ended, so that no row is due later")
    }
}
