// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

@testable import Gateway

/// Names of sessions that are bound to their users by a secret (I17).
@Suite struct SessionNamerTests {
    @Test func `I17 the session key makes names by HMAC with SHA-256, which no one without the key can compute`() {
        let anna = UserKey("demo", "anna")
        let names = SessionNamer.keyed(Secret("a key of 16 bytes"))
        // The name is `s-` and the first half of this command's output:
        // printf 'demo/anna|phone' | openssl dgst -sha256 -hmac 'a key of 16 bytes'
        #expect(names.name(of: "phone", for: anna) == "s-a7b0cacf6bd8bedfb73fb9116d5a38a5")
        #expect(names.name(of: "phone", for: UserKey("demo", "bob")) != names.name(of: "phone", for: anna))
        #expect(
            SessionNamer.keyed(Secret("another key, too")).name(of: "phone", for: anna)
                != names.name(of: "phone", for: anna))
        // A request of the HTTP API has a session of its own, named after the caller, the idempotency key and the call.
        let request = names.nameOfRequest(anna, role: .server, key: "k", call: "c")
        #expect(SessionName.isHTTPRequest(request) && SessionID(checking: request.text) != nil)
    }
}
