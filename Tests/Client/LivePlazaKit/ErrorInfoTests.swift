// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

/// The message and the name of an error of the SDK.
@Suite struct ErrorInfoTests {
    @Test("an error's localized description is its message")
    func message() {
        #expect(
            ErrorInfo(code: -2101, message: "you are not in the live").localizedDescription == "you are not in the live"
        )
    }

    @Test("a known code has a named case, and an unknown one has its number as its name")
    func name() {
        switch ErrorInfo(code: -2380, message: "").name {
        case .roomMuted: break
        default: Issue.record("not roomMuted")
        }
        #expect(ErrorInfo(code: 12345, message: "").name.rawValue == "error12345")
    }
}
