// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaWire
import Settings

/// The options by which a subcommand names an app and where its keys are.
struct AppsOptions: Sendable {
    /// The app to act for.
    let app: String
    private let file: String?
    private let json: String?

    /// Declares and reads them.
    init(_ reader: inout SettingsReader) {
        self.app = reader.string("app", default: AppsFile.demoApp, placeholder: "NAME", help: "the app to act for")
        self.file = reader.optionalString(
            "apps", placeholder: "FILE", help: "the apps' keys; without it the cluster's own in its directory")
        self.json = reader.optionalString(
            "apps-json", placeholder: "JSON", isSecret: true, help: "the same, given directly instead of a file")
        if self.file != nil, self.json != nil {
            reader.refuse("apps-json", value: nil, remedy: AppsDocument.twice)
        }
    }

    /// Where the keys are; those of the cluster in `directory` unless another place was named.
    ///
    /// - Throws: when that cluster's are not known here.
    func source(else directory: RunDirectory) throws -> AppsFile.Source {
        if let json { return .json(json) }
        if let file { return .file(file) }
        return try AppsFile.Source(clusterIn: directory)
    }
}
