// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaKit

/// What the stores of one live show, as far as it must be the same for all users in the live.
///
/// `includesMessages`: false for a comparison with a newcomer, who does not get earlier messages.
func sharedStates(_ plaza: LivePlaza, _ live: String, includesMessages: Bool = true) -> StoreStates {
    var states = StoreStates(plaza, live)
    states.clearUserSpecificStates(hasSimulatedTime: false)
    if !includesMessages { states.messages = [] }
    return states
}

/// Waits until the stores of these clients show the same as those of a witness, who was never cut off, and those of a
/// newcomer, who has just entered.
///
/// - Parameters:
///   - clients: the clients under test.
///   - live: the live that all are in.
///   - witness: the client that was never cut off.
///   - newcomer: the client that has just entered.
///   - messages: the texts of the messages that all but the newcomer must show.
/// - Throws: `StoreTestFailure`, which names the differences, if the stores still differ after 30 s.
func expectSameStores(
    of clients: [LivePlaza], in live: String, as witness: LivePlaza, and newcomer: LivePlaza, messages: [String]
) async throws {
    func differences() -> [String] {
        let expected = sharedStates(witness, live)
        guard expected.messages == messages else { return ["the witness shows the messages \(expected.messages)"] }
        for client in clients {
            let found = sharedStates(client, live).differences(from: expected)
            let user = client.loginStore.state.value.loginUserInfo?.userID ?? "a user who is not logged in"
            if !found.isEmpty { return found.map { "\(user): \($0)" } }
        }
        let expectedOfNewcomer = sharedStates(witness, live, includesMessages: false)
        let foundOfNewcomer = sharedStates(newcomer, live, includesMessages: false)
        return foundOfNewcomer.differences(from: expectedOfNewcomer).map { "newcomer: \($0)" }
    }
    do {
        try await waitUntil("all show what the witness shows") { differences().isEmpty }
    } catch {
        throw StoreTestFailure("\(error); \(differences().joined(separator: "; "))")
    }
}
