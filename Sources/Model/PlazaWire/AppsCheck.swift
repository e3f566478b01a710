// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Collects all errors in the policies and hooks of an apps file (the settings of each app): unknown names, and values
/// out of range.
///
/// The apps' keys are not checked here: the token keyring checks them when it loads them.
struct AppsCheck {
    /// Each error names the app, the setting, its value and the valid values.
    private(set) var validationErrors: [String] = []

    init(_ file: JSONValue) {
        // If the file is not an object, nothing is checked here: the decoder of `AppsDocument` reports the error.
        if case .object = file { self.checkNames(in: file, at: "", among: ["apps"]) }
        for (app, entry) in Self.sorted(file.members["apps"]) {
            self.checkNames(in: entry, at: app, among: ["keys", "policy", "hooks"])
            self.checkPolicy(entry.members["policy"], at: "\(app).policy")
            self.checkHooks(entry.members["hooks"], at: "\(app).hooks")
        }
    }

    private mutating func checkPolicy(_ policy: JSONValue?, at path: String) {
        guard let policy, policy != .null else { return }
        // `seatModeOfServer` is the seat mode of a live that the app's server creates without a seat mode.
        let choices = ["devices": ["several", "one"], "seatModeOfServer": ["free", "apply"]]
        let names = Array(AppPolicy.ranges.keys) + Array(choices.keys) + ["dismissal"]
        self.checkNames(in: policy, at: path, among: names)
        self.checkNumbers(in: policy, at: path, AppPolicy.ranges)
        for (name, validValues) in choices.sorted(by: { $0.key < $1.key }) {
            self.checkChoice(policy.members[name], at: "\(path).\(name)", among: validValues)
        }
        if let dismissal = policy.members["dismissal"], dismissal != .null {
            self.checkNames(in: dismissal, at: "\(path).dismissal", among: Array(DismissalPolicy.ranges.keys))
            self.checkNumbers(in: dismissal, at: "\(path).dismissal", DismissalPolicy.ranges)
        }
    }

    private mutating func checkHooks(_ hooks: JSONValue?, at path: String) {
        guard let hooks, hooks != .null else { return }
        self.checkNames(in: hooks, at: path, among: ["url", "secret", "events", "before"])
        if case .array(let events)? = hooks.members["events"] {
            let names = WebhookName.allCases.map(\.rawValue)
            for event in events { self.checkChoice(event, at: "\(path).events", among: names) }
        }
        if let before = hooks.members["before"], before != .null {
            self.checkNames(in: before, at: "\(path).before", among: ["message", "gift"])
            // Whether a message or gift is allowed or refused when the app's backend gives no valid answer about it.
            for name in ["gift", "message"] {
                self.checkChoice(before.members[name], at: "\(path).before.\(name)", among: ["allow", "refuse"])
            }
        }
    }

    /// Records an error for each unknown name, which is usually a spelling error; `path` is empty for the whole file.
    private mutating func checkNames(in value: JSONValue, at path: String, among validNames: [String]) {
        guard case .object = value else {
            self.validationErrors.append("\(path) is no object")
            return
        }
        for (name, _) in Self.sorted(value) where !validNames.contains(name) {
            let knownNames = validNames.sorted().joined(separator: ", ")
            let fullName = path.isEmpty ? "\(name.prefix(64))" : "\(path).\(name.prefix(64))"
            let verb = validNames.count == 1 ? "is" : "are"
            self.validationErrors.append("\(fullName) is not known; there \(verb) \(knownNames)")
        }
    }

    private mutating func checkNumbers(in value: JSONValue, at path: String, _ ranges: [String: ClosedRange<Int64>]) {
        for (name, member) in Self.sorted(value) {
            guard let range = ranges[name], member != .null else { continue }
            let validRange = "\(range.lowerBound) to \(range.upperBound) are possible"
            guard case .integer(let number) = member else {
                self.validationErrors.append("\(path).\(name) is no whole number; \(validRange)")
                continue
            }
            if !range.contains(number) { self.validationErrors.append("\(path).\(name) is \(number); \(validRange)") }
        }
    }

    private mutating func checkChoice(_ value: JSONValue?, at path: String, among choices: [String]) {
        guard let value, value != .null else { return }
        if case .text(let text) = value, choices.contains(text) { return }
        let actualValue = if case .text(let text) = value { "'\(text.prefix(64))'" } else { "no text" }
        self.validationErrors.append("\(path) is \(actualValue); it may be \(choices.joined(separator: ", "))")
    }

    /// The members of an object, sorted by name, so that errors have the same order at each start.
    private static func sorted(_ value: JSONValue?) -> [(key: String, value: JSONValue)] {
        (value?.members ?? [:]).sorted { $0.key < $1.key }
    }
}
