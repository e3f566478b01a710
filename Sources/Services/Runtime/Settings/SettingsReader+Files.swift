// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
    /// Reads a secret from the file that `--name-file` names, or from the environment variable of `--name`.
    ///
    /// A secret on the command line is rejected, because every user of the machine can read it there. Neither
    /// `effectiveSettings` nor a problem contains the secret.
    ///
    /// - Parameters:
    ///   - name: the secret's name, such as `redis-password`.
    ///   - help: a sentence that describes the secret.
    /// - Returns: the secret; nil if none is given, if both a file and the variable are given, or if the file cannot be
    ///   used. In the last two cases `finish()` reports the problem.
    package mutating func secret(_ name: String, help: String) -> String? {
        let option = "\(name)-file"
        let variable = self.variable(for: name)
        if self.markAsUsed(option: name) {
            self.reject(
                name, value: nil,
                remedy: "every user of the machine can read a command line: give --\(option), or set \(variable)")
        }
        let path = self.optionalString(
            option, placeholder: "FILE", help: "\(help) Readable by this user alone; or set \(variable).")
        let environmentSecret = self.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        guard let path else { return environmentSecret }
        if environmentSecret != nil {
            self.reject(option, value: path, remedy: "give only one of --\(option) and \(variable)")
            return nil
        }
        switch SettingFile.secret(at: path) {
        case .contents(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .problem(let remedy):
            self.reject(option, value: path, remedy: remedy)
            return nil
        }
    }

    /// Reads the path of a file with certificates in PEM.
    ///
    /// - Returns: the path; nil if none is given, or if `finish()` reports a problem with the file.
    package mutating func certificateFile(_ name: String, help: String) -> String? {
        self.pemFile(name, kind: "CERTIFICATE", isPrivate: false, help: help)
    }

    /// Reads the path of a file with a private key in PEM, which must not be accessible to other users.
    ///
    /// - Returns: the path; nil if none is given, or if `finish()` reports a problem with the file.
    package mutating func privateKeyFile(_ name: String, help: String) -> String? {
        self.pemFile(name, kind: "PRIVATE KEY", isPrivate: true, help: help)
    }

    /// Reads the path of a file with a PEM block of `kind`; if `isPrivate`, other users must not have access to the
    /// file.
    private mutating func pemFile(_ name: String, kind: String, isPrivate: Bool, help: String) -> String? {
        guard let path = self.optionalString(name, placeholder: "FILE", help: help) else { return nil }
        guard let remedy = SettingFile.pemProblem(at: path, kind: kind, isPrivate: isPrivate) else { return path }
        self.reject(name, value: path, remedy: remedy)
        return nil
    }

    /// Marks each `--name` and its value as used, so that no error message quotes the value.
    ///
    /// - Returns: whether the arguments contain `--name`.
    private mutating func markAsUsed(option name: String) -> Bool {
        var isGiven = false
        for index in self.arguments.indices where !self.isUsed[index] {
            let argument = self.arguments[index]
            guard argument == "--\(name)" || argument.hasPrefix("--\(name)=") else { continue }
            isGiven = true
            self.isUsed[index] = true
            guard argument == "--\(name)", index + 1 < self.arguments.count,
                !self.arguments[index + 1].hasPrefix("--")
            else { continue }
            self.isUsed[index + 1] = true
        }
        return isGiven
    }
}
