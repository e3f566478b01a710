// SPDX-License-Identifier: Apache-2.0
package import GatewayCore
internal import HTTPClient
package import MachineKit

extension SessionNamer {
    /// Creates a namer of sessions whose names only the holders of `key` can compute.
    ///
    /// A name contains the first 128 bits of an HMAC with SHA-256.
    package static func keyed(_ key: Secret) -> SessionNamer {
        let keyBytes = Array(key.text.utf8)
        // 32 hexadecimal digits are 128 bits.
        return SessionNamer { String(HMACSHA256.hex(of: Array($0.utf8), key: keyBytes).prefix(32)) }
    }
}
