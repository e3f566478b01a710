// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation

/// A new certificate authority in a temporary folder, with certificates for 127.0.0.1; `openssl` makes both.
package final class PrivateAuthority: Sendable {
    /// Whether `openssl` is installed; tests use it in `.enabled(if: PrivateAuthority.isAvailable, "install openssl")`.
    package static let isAvailable = ["/usr/bin/openssl", "/usr/local/bin/openssl"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The folder with all the files; it is removed with this object.
    package let directory: String
    /// The authority's certificate.
    package var certificate: String { self.directory + "/ca.pem" }
    /// The certificate of a server at 127.0.0.1; it is valid for this address, but for no host name.
    package var serverCertificate: String { self.directory + "/server.pem" }
    /// The server's private key.
    package var serverKey: String { self.directory + "/server.key" }
    /// The server's key and certificates in one file, as Kafka expects them.
    package var serverKeystore: String { self.directory + "/server.keystore.pem" }
    /// The certificate of a client.
    package var clientCertificate: String { self.directory + "/client.pem" }
    /// The client's private key.
    package var clientKey: String { self.directory + "/client.key" }

    /// Makes the authority and the certificates; blocks.
    ///
    /// - Throws: an error with the output of `openssl` if it fails, or if the folder cannot be created.
    package init() throws {
        self.directory =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("liveplaza-ca-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: self.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let (end, output) = try TestProcess.run(
            ["sh", "-c", Self.script], directory: self.directory, errors: .output)
        guard end == .exited(0) else { throw TestServerError("openssl: \(output)") }
    }

    deinit { try? FileManager.default.removeItem(atPath: self.directory) }

    private static let script = """
        set -e; umask 077
        new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        openssl req -x509 $new -keyout ca.key -out ca.pem -days 2 -subj "/CN=LivePlaza test authority"
        for name in server client; do
            openssl req $new -keyout $name.key -out $name.csr -subj "/CN=liveplaza-$name"
            printf 'subjectAltName=IP:127.0.0.1\\nbasicConstraints=CA:FALSE\\n' >$name.ext
            openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext \\
                -out $name.pem
        done
        cat server.key server.pem ca.pem >server.keystore.pem
        """

    /// Writes a secret into the folder, readable by its owner alone.
    ///
    /// - Returns: the file's path.
    /// - Throws: an error if the file cannot be written.
    package func writeSecretFile(_ name: String, _ text: String) throws -> String {
        let path = self.directory + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}
