// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

@Suite struct ErrorInfoTests {
    @Test("an error shows its message")
    func message() {
        #expect(
            ErrorInfo(code: -2101, message: "you are not in the live").localizedDescription == "you are not in the live"
        )
    }
}
