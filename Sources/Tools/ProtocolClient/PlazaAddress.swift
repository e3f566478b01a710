// SPDX-License-Identifier: Apache-2.0

/// The address of a gateway.
package struct PlazaAddress: Hashable, Sendable {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}
