// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Reads files that settings name: secrets, and certificates and private keys in PEM.
///
/// "Other users" are all users of the machine except the file's owner and the members of its group.
enum SettingFile {
    /// The result of reading a file.
    enum ReadResult: Equatable {
        case contents([UInt8])
        /// Why the file cannot be used, and the remedy; never quotes the contents.
        case problem(String)
    }

    /// The maximum size of a file with a secret.
    static let maxSecretBytes = 4096
    /// The maximum size of a file with certificates or private keys.
    static let maxPEMBytes = 4 << 20
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Reads a secret: the only line of a file that other users of the machine cannot read.
    ///
    /// A line end after the secret is removed, because editors and `echo` append one.
    ///
    /// - Returns: the secret, or a problem if the file is missing, cannot be read, is empty, is accessible to other
    ///   users, is not UTF-8, or has more than one line.
    static func secret(at path: String) -> ReadResult {
        let readResult = Self.read(path, maxBytes: Self.maxSecretBytes, isPrivate: true)
        guard case .contents(var bytes) = readResult else { return readResult }
        if bytes.last == Self.lineFeed { bytes.removeLast() }
        if bytes.last == Self.carriageReturn { bytes.removeLast() }
        if bytes.isEmpty { return .problem("it is empty; write the secret into it, in one line") }
        if bytes.contains(where: { $0 == 0 || $0 == Self.lineFeed || $0 == Self.carriageReturn }) {
            return .problem("it has more than one line; write only the secret into it")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            return .problem("it is no text in UTF-8; write the secret into it, in one line")
        }
        return .contents(bytes)
    }

    /// Checks that a file contains a PEM block of the given kind.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - kind: the end of the block's label; `PRIVATE KEY` also accepts a block with the label `RSA PRIVATE KEY`.
    ///   - isPrivate: whether the file must not be accessible to other users.
    /// - Returns: the problem and its remedy; nil if the file contains such a block.
    static func pemProblem(at path: String, kind: String, isPrivate: Bool) -> String? {
        switch Self.read(path, maxBytes: Self.maxPEMBytes, isPrivate: isPrivate) {
        case .problem(let problem): return problem
        case .contents(let bytes):
            let hasBlock = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains {
                $0.hasPrefix("-----BEGIN ") && $0.hasSuffix("\(kind)-----")
            }
            return hasBlock ? nil : "it has no \(kind) in PEM, which begins with -----BEGIN"
        }
    }

    /// Reads a regular file of at most `maxBytes`; if `isPrivate`, other users must not have access to the file.
    private static func read(_ path: String, maxBytes: Int, isPrivate: Bool) -> ReadResult {
        // Opening a named pipe without O_NONBLOCK would wait for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            return .problem(
                errno == ENOENT
                    ? "there is no such file; make it, readable by this service's user alone"
                    : "it cannot be read (error \(errno)); make it readable by this service's user")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .problem("it is no regular file; give the path of one")
        }
        // 0o007 is the access of other users.
        if isPrivate, status.st_mode & 0o007 != 0 {
            return .problem("every user of this machine has access to it; run chmod 600 on it")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maxBytes {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                return .problem("it cannot be read (error \(errno)); make it readable by this service's user")
            }
            if count == 0 { return .contents(bytes) }
            bytes += buffer[..<count]
        }
        return .problem("it has more than \(maxBytes) bytes; give another file")
    }
}
