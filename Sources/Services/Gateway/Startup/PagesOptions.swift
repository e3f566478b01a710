// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
package import GatewayCore
package import Settings
package import Tokens

/// The settings for browsers: the pages, demo tokens, and the accepted origins.
package struct PagesOptions: Sendable {
    /// The pages; nil if they are off.
    private let site: StaticSite?
    /// The addresses to which the pages connect their WebSockets; if empty, they connect to this gateway's own port.
    private let webSockets: [String]
    /// The origins whose images the pages show, besides their own.
    private let imageOrigins: [String]
    /// The app for which demo tokens are signed; nil if none are signed.
    package let demoApp: String?
    /// The addresses whose clients may get demo tokens, besides those of this machine.
    private let demoClients: [AddressBlock]
    /// The origins of web pages whose WebSockets are accepted.
    package let origins: WebOrigins
    /// Whether the setting `pages` is `auto` and there are no pages beside the program.
    package let lacksPages: Bool

    /// Declares and reads the settings; the reader's `finish()` reports invalid ones.
    ///
    /// - Parameters:
    ///   - reader: The reader.
    ///   - program: The path of the running program; the pages are searched for next to it.
    package init(_ reader: inout SettingsReader, program: String = PagesFolder.program) {
        reader.section("Browsers")
        let pages = reader.string(
            "pages", default: "off", placeholder: "off|on|auto|DIR",
            help: "Serve the browser pages at /: from beside the program (auto: if they are there), or from a folder.")
        self.site = Self.readSite(pages, &reader, program)
        self.lacksPages = pages == "auto" && self.site == nil
        self.webSockets = Self.readOrigins(
            "web-sockets", schemes: ["ws", "wss"], &reader,
            "Addresses of the gateways for the pages, such as wss://live.example.org; none: this gateway's own port.")
        self.imageOrigins = Self.readOrigins(
            "image-origins", schemes: ["https"], &reader, "Origins whose images the pages show, besides their own.")
        self.origins = WebOrigins(
            Self.readOrigins(
                "origins", schemes: ["http", "https"], &reader,
                "Origins of web pages that may open WebSockets, besides those of the same host; none: all."))
        let app = reader.optionalString(
            "demo-tokens", placeholder: "APP",
            help: "Give pages tokens of this app for any name, without a check. For trying out alone.")
        let clients = reader.list(
            "demo-tokens-from", placeholder: "BLOCK,…",
            help: "Addresses that may ask for such tokens, besides this machine's.")
        for text in clients where AddressBlock(text) == nil {
            reader.reject("demo-tokens-from", value: text, remedy: "give addresses, or blocks such as 172.16.0.0/12")
        }
        if app != nil, pages == "off" {
            reader.reject("demo-tokens", value: app, remedy: "give --pages too: the tokens are for them alone")
        }
        self.demoApp = app
        self.demoClients = clients.compactMap { AddressBlock($0) }
    }

    /// Creates the settings of the pages.
    ///
    /// - Parameter apps: The keys of the apps.
    /// - Returns: Nil if no pages are served.
    package func settings(apps: AppKeyring) -> PagesSettings? {
        guard let site = self.site else { return nil }
        let tokens = self.demoApp.flatMap { DemoTokens(app: $0, keyring: apps, clients: self.demoClients) }
        return PagesSettings(
            site: site, webSockets: self.webSockets, imageOrigins: self.imageOrigins, demoTokens: tokens)
    }

    /// Reads the files of the pages for the setting `value`; nil if the pages are off, or if there are none.
    private static func readSite(_ value: String, _ reader: inout SettingsReader, _ program: String) -> StaticSite? {
        if value == "off" { return nil }
        let folder = value == "on" || value == "auto" ? PagesFolder.find(program: program) : value
        guard let folder else {
            if value == "on" {
                reader.reject("pages", value: value, remedy: "there are none beside the program: name their folder")
            }
            return nil
        }
        do throws(PagesFolder.Problem) {
            return try PagesFolder.read(folder)
        } catch {
            reader.reject("pages", value: folder, remedy: error.remedy)
            return nil
        }
    }

    /// Reads the setting `name`: a list of origins with one of the schemes.
    private static func readOrigins(
        _ name: String, schemes: [String], _ reader: inout SettingsReader, _ help: String
    ) -> [String] {
        let texts = reader.list(name, placeholder: "ORIGIN,…", help: help)
        for text in texts where !WebOrigins.isOrigin(text, schemes: schemes) {
            reader.reject(
                name, value: text, remedy: "give \(schemes.joined(separator: " or "))://HOST[:PORT], without a path")
        }
        return texts
    }
}
