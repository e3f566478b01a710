// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import TestSupport
import Testing

/// Tests of settings that name a file with a secret, a certificate or a private key.
@Suite struct SecretSettingsTests {
    /// The folder for the files of one test.
    private let scratch: ScratchFolder

    init() throws { self.scratch = try ScratchFolder() }

    /// Writes a file with the permissions `mode`, by default for its owner only, and returns its path.
    private func writeFile(_ contents: String, mode: Int = 0o600) throws -> String {
        let path = self.scratch.path + "/\(UUID().uuidString)"
        try Data(contents.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// Reads the secret `redis-password`.
    ///
    /// - Returns: the secret, the descriptions of all problems, and the reader.
    private func readSecret(_ arguments: [String], _ environment: [String: String] = [:])
        -> (secret: String?, problems: [String], reader: SettingsReader)
    {
        var reader = SettingsReaderTests.makeReader(arguments, environment)
        let secret = reader.secret("redis-password", help: "The file with the password.")
        do throws(SettingsError) {
            try reader.finish()
            return (secret, [], reader)
        } catch {
            guard case .invalid(_, let problems) = error else { return (secret, ["\(error)"], reader) }
            #expect(error.exitStatus == 64, "the status EX_USAGE of sysexits.h")
            return (secret, problems.map(\.description), reader)
        }
    }

    @Test(arguments: ["hush", "hush\n", "hush\r\n"])
    func `a secret is read from the only line of its file, or from the environment`(contents: String) throws {
        let path = try self.writeFile(contents)
        let (secret, problems, reader) = self.readSecret(["--redis-password-file", path])
        #expect(secret == "hush" && problems.isEmpty)
        #expect(reader.effectiveSettings.map(\.value) == [path], "the log gets the path and not the secret")
        #expect(self.readSecret([], ["LIVEPLAZA_REDIS_PASSWORD_FILE": path]).secret == "hush")
        #expect(self.readSecret([], ["LIVEPLAZA_REDIS_PASSWORD": "of the environment"]).secret == "of the environment")
        #expect(self.readSecret([]).secret == nil && self.readSecret([]).problems.isEmpty)
    }

    @Test(
        arguments: [
            ("", 0o600, "it is empty"), ("\n", 0o600, "it is empty"), ("two\nlines\n", 0o600, "more than one line"),
            ("hush", 0o604, "run chmod 600"), ("hush", 0o644, "run chmod 600"), ("hush", 0o602, "run chmod 600"),
            (String(repeating: "x", count: 5000), 0o600, "more than 4096 bytes"),
        ])
    func `a file without a valid secret, or that other users can access, is rejected, and the problem says why`(
        contents: String, mode: Int, expectedReason: String
    ) throws {
        let path = try self.writeFile(contents, mode: mode)
        let (secret, problems, _) = self.readSecret(["--redis-password-file", path])
        #expect(secret == nil && problems.count == 1)
        #expect(problems.first?.hasPrefix("--redis-password-file cannot be '\(path)': ") == true, "\(problems)")
        #expect(problems.first?.contains(expectedReason) == true, "\(problems)")
        #expect(problems.first?.contains("hush") == false, "the problem does not contain the secret")
    }

    @Test func `a missing file, a folder and an unreadable file are rejected, and the problem says why`() throws {
        let missingFileProblems = self.readSecret(["--redis-password-file", "/no/such/file"]).problems
        #expect(missingFileProblems.first?.contains("there is no such file") == true)
        let folderProblems = self.readSecret(["--redis-password-file", self.scratch.path]).problems
        #expect(folderProblems.first?.contains("no regular file") == true)
        // The tests may run as the superuser, who can read a file of any mode. But nobody can open a path that uses a
        // file as a folder: the error is ENOTDIR, and not ENOENT, the error of a missing file.
        let unreadablePath = try self.writeFile("hush") + "/secret"
        let unreadableFileProblems = self.readSecret(["--redis-password-file", unreadablePath]).problems
        #expect(unreadableFileProblems.first?.contains("cannot be read (error \(ENOTDIR))") == true)
    }

    @Test(arguments: [["--redis-password", "hidden"], ["--redis-password=hidden"]])
    func `a secret on the command line is rejected, and the problem does not contain it`(arguments: [String]) {
        let (secret, problems, _) = self.readSecret(arguments)
        #expect(secret == nil && problems.count == 1)
        #expect(problems.first?.contains("--redis-password-file, or set LIVEPLAZA_REDIS_PASSWORD") == true)
        #expect(problems.joined().contains("hidden") == false)
    }

    @Test func `a secret in both a file and a variable is rejected`() throws {
        let path = try self.writeFile("hush")
        let (_, problems, _) = self.readSecret(["--redis-password-file", path], ["LIVEPLAZA_REDIS_PASSWORD": "hidden"])
        #expect(problems.count == 1 && problems.joined().contains("only one of"))
        #expect(!problems.joined().contains("hidden"))
    }

    @Test func `a certificate may be read by everybody, a private key not`() throws {
        let certificate = try self.writeFile(
            "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n", mode: 0o644)
        let key = try self.writeFile(
            "-----BEGIN EC PRIVATE KEY-----\nMII=\n-----END EC PRIVATE KEY-----\n", mode: 0o644)
        // All users may read both files. The file of `--second-ca` is not a certificate.
        var reader = SettingsReaderTests.makeReader(["--ca", certificate, "--key", key, "--second-ca", key])
        #expect(reader.certificateFile("ca", help: "") == certificate)
        #expect(reader.privateKeyFile("key", help: "") == nil)
        #expect(reader.certificateFile("second-ca", help: "") == nil)
        let error = #expect(throws: SettingsError.self) { try reader.finish() }
        #expect(error?.description.contains("--key cannot be '\(key)': every user") == true)
        #expect(error?.description.contains("--second-ca cannot be '\(key)': it has no CERTIFICATE in PEM") == true)
    }
}
