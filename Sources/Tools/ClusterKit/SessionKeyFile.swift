// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import PlazaWire
internal import Tokens

/// The secret of a local cluster that binds the names of sessions to their users; all its gateways read it.
package enum SessionKeyFile {
    /// The environment variables with which the user of `plaza up` may give a key of their own.
    private static let variables = ["LIVEPLAZA_SESSION_KEY", "LIVEPLAZA_SESSION_KEY_FILE"]
    private static let option = "--session-key-file"

    /// Creates the file with a random key of 32 bytes if it is missing, and returns the arguments that give the key to
    /// the gateways.
    ///
    /// The key stays the same when the cluster starts again in its run directory. Therefore the gateways still
    /// recognize a call that a client sends again after the restart.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - environment: the environment variables of the gateways.
    ///   - extraArguments: the gateways' further arguments.
    /// - Returns: the arguments; none if the gateways get another key.
    /// - Throws: `ClusterError.file` when the file cannot be written.
    package static func prepareArguments(
        at path: String, environment: [String: String], extraArguments: [String]
    ) throws(ClusterError) -> [String] {
        if Self.variables.contains(where: { !(environment[$0] ?? "").isEmpty }) { return [] }
        if extraArguments.contains(where: { $0 == Self.option || $0.hasPrefix("\(Self.option)=") }) { return [] }
        if !FileManager.default.fileExists(atPath: path) {
            let key = Base64URL.encode(RandomBytes.generate(count: 32))
            // Only the owner may read the key; a gateway rejects a file that others can read.
            try RunDirectory.write(Data(key.utf8), to: path, mode: 0o600)
        }
        return [Self.option, path]
    }
}
