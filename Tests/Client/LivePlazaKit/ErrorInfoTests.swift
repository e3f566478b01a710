// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

/// The message and the name of an SDK error.
@Suite struct ErrorInfoTests {
    @Test("an error's localized description is its message")
    func message() {
        #expect(
            ErrorInfo(code: -2101, message: "you are not in the live").localizedDescription == "you are not in the live"
        )
    }

    @Test("the name of a known code is a case of its own, and the name of an unknown code has its number")
    func name() {
        switch ErrorInfo(code: -2380, message: "").name {
        case .roomMuted: break
        default: Issue.record("expected that the code -2380 is named roomMuted")
        }
        #expect(ErrorInfo(code: 12345, message: "").name.rawValue == "error12345")
    }
}
