// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
    /// A secret: from the file that `--name-file` names, or from the environment variable of `--name`.
    ///
    /// It is never taken from the command line, which every user of the machine can read: `--name` is a problem. The
    /// file is read once, here. Neither `effective` nor a problem contains the secret.
    ///
    /// - Parameters:
    ///   - name: the secret's name, such as `redis-password`.
    ///   - help: what it is, in a sentence.
    /// - Returns: the secret; nil when there is none, or when the file cannot be used, which `finish()` then says.
    package mutating func secret(_ name: String, help: String) -> String? {
        let option = "\(name)-file"
        let variable = self.variable(for: name)
        if self.takeOption(name) {
            self.reject(
                name, value: nil,
                remedy: "every user of the machine can read a command line: give --\(option), or set \(variable)")
        }
        let path = self.optionalString(
            option, placeholder: "FILE", help: "\(help) Readable by this user alone; or set \(variable).")
        let direct = self.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        guard let path else { return direct }
        if direct != nil {
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

    /// The path of a file with certificates in PEM.
    ///
    /// - Returns: the path; nil when none is given, or when the file has no certificate, which `finish()` then says.
    package mutating func certificateFile(_ name: String, help: String) -> String? {
        self.pemFile(name, kind: "CERTIFICATE", isPrivate: false, help: help)
    }

    /// The path of a file with a private key in PEM, which not everybody may read.
    ///
    /// - Returns: the path; nil when none is given, or when the file cannot be used, which `finish()` then says.
    package mutating func privateKeyFile(_ name: String, help: String) -> String? {
        self.pemFile(name, kind: "PRIVATE KEY", isPrivate: true, help: help)
    }

    private mutating func pemFile(_ name: String, kind: String, isPrivate: Bool, help: String) -> String? {
        guard let path = self.optionalString(name, placeholder: "FILE", help: help) else { return nil }
        guard let remedy = SettingFile.pemProblem(at: path, kind: kind, isPrivate: isPrivate) else { return path }
        self.reject(name, value: path, remedy: remedy)
        return nil
    }

    /// Takes each `--name` and its value from the arguments, so that no problem quotes the value.
    ///
    /// - Returns: whether there was one.
    private mutating func takeOption(_ name: String) -> Bool {
        var isGiven = false
        for index in self.arguments.indices where !self.isTaken[index] {
            let argument = self.arguments[index]
            guard argument == "--\(name)" || argument.hasPrefix("--\(name)=") else { continue }
            isGiven = true
            self.isTaken[index] = true
            guard argument == "--\(name)", index + 1 < self.arguments.count,
                !self.arguments[index + 1].hasPrefix("--")
            else { continue }
            self.isTaken[index + 1] = true
        }
        return isGiven
    }
}
