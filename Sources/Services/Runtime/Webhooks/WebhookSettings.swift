// SPDX-License-Identifier: Apache-2.0
package import Settings

/// The settings of requests to apps' backends.
///
/// The room-directory sends events; gateways send requests for decisions.
package struct WebhookSettings: Sendable {
    /// A PEM file with authorities that may sign backends' certificates besides those that the system trusts.
    package let caFile: String?

    /// Declares and reads the settings; the reader's `finish()` reports invalid ones.
    package init(_ reader: inout SettingsReader) {
        reader.section("Webhooks")
        self.caFile = reader.certificateFile(
            "webhook-ca-file",
            help: "Authorities that may sign backends' certificates besides the system's, in PEM.")
    }
}
