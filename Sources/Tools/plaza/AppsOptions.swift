// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaWire
import Settings

/// Subcommand options that select an app and the source of its keys.
struct AppsOptions: Sendable {
    /// The app to act for.
    let app: String
    private let file: String?
    private let json: String?

    /// Declares and reads the options.
    init(_ reader: inout SettingsReader) {
        self.app = reader.string("app", default: AppsFile.demoApp, placeholder: "NAME", help: "the app to act for")
        self.file = reader.optionalString(
            "apps", placeholder: "FILE",
            help: "file with the apps' keys; default: the file in the cluster's run directory")
        self.json = reader.optionalString(
            "apps-json", placeholder: "JSON", isSecret: true, help: "the apps' keys as JSON text, instead of --apps")
        if self.file != nil, self.json != nil {
            reader.reject("apps-json", value: nil, remedy: AppsDocument.onlyOneSourceAdvice)
        }
    }

    /// The source of the keys: the one that an option names, otherwise the source of the cluster in `directory`.
    ///
    /// - Throws: an error when the keys of that cluster are not available to this process.
    func source(default directory: RunDirectory) throws -> AppsFile.Source {
        if let json { return .json(json) }
        if let file { return .file(file) }
        return try AppsFile.Source(clusterIn: directory)
    }
}
