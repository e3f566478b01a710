// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

@testable import Gateway

/// The names of sessions, which a secret, the session key, binds to their users (I17 in docs/RULES.md).
@Suite struct SessionNamerTests {
    @Test func `I17 the session key makes names by HMAC with SHA-256, which no one without the key can compute`() {
        let anna = UserKey("demo", "anna")
        let namer = SessionNamer.keyed(Secret("a key of 16 bytes"))
        let phoneOfAnna = namer.name(of: "phone", for: anna)
        // The name is `s-` and the first half of this command's output:
        // printf 'demo/anna|phone' | openssl dgst -sha256 -hmac 'a key of 16 bytes'
        #expect(phoneOfAnna == "s-a7b0cacf6bd8bedfb73fb9116d5a38a5")
        #expect(namer.name(of: "phone", for: UserKey("demo", "bob")) != phoneOfAnna, "another user, another name")
        let namerWithOtherKey = SessionNamer.keyed(Secret("another key, too"))
        #expect(namerWithOtherKey.name(of: "phone", for: anna) != phoneOfAnna, "another key, another name")
        // A request of the HTTP API has a session of its own, named after the caller, the idempotency key and the call.
        let request = namer.nameOfRequest(anna, role: .server, key: "k", call: "c")
        #expect(SessionName.isHTTPRequest(request) && SessionID(checking: request.text) != nil)
    }
}
