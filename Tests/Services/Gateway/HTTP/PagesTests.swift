// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Foundation
import GatewayCore
import Glibc
import HTTPServer
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Repository
import Settings
import Testing
import Tokens

@testable import Gateway

/// The web pages that a gateway serves, their settings, and demo tokens.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PagesTests {
    /// The HTTP handler of a gateway that serves these pages; nil: a gateway without pages.
    private func handler(_ pages: PagesSettings?) throws -> HTTPHeadHandler {
        GatewayAPI(try FakeCluster { $0.pages = pages }.gateway).handler
    }

    /// A site of two files; gzip makes neither shorter, so both are sent uncompressed.
    private func site() -> StaticSite {
        var site = StaticSite()
        let longerBytes = Array("longer than both bodies".utf8)
        site.add("pages/index.html", body: Array("<!doctype html>".utf8), gzip: longerBytes)
        site.add("pages/main.js", body: Array("import './x.js';".utf8), gzip: longerBytes)
        return site
    }

    /// The response to a GET request, which the handler must give without waiting for a body.
    ///
    /// The handler's result `.reject` means only that no body is read; its response may be a success.
    private func answer(_ handler: HTTPHeadHandler, _ path: String, _ headers: [String: String] = [:]) throws
        -> HTTPResponse
    {
        let request = try #require(HTTPRequest(method: .get, path: path, headers: headers))
        guard case .reject(let response) = handler(request) else {
            Issue.record("\(path) is answered only after its body is read")
            return HTTPResponse(status: 0)
        }
        return response
    }

    private func header(_ name: String, of response: HTTPResponse) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    /// Rules: R13.31.
    @Test func `the files of the pages are served at their paths, the start page at the root, and nothing else is`()
        throws
    {
        let handler = try self.handler(PagesSettings(site: self.site()))
        #expect(try self.answer(handler, "/").body == Array("<!doctype html>".utf8))
        #expect(try self.answer(handler, "/pages/index.html").status == 200)
        #expect(
            self.header("Content-Type", of: try self.answer(handler, "/pages/main.js"))
                == "text/javascript; charset=utf-8")
        for path in ["/pages", "/pages/", "/pages/other.js", "/pages/..%2Findex.html", "/pages/demo-token", "/x"] {
            #expect(try self.answer(handler, path).status >= 404)
        }
    }

    /// Rules: R13.31.
    @Test func `a gateway without pages serves nothing at the root, but serves its API`() throws {
        let handler = try self.handler(nil)
        #expect(try self.answer(handler, "/").status == 404)
        #expect(try self.answer(handler, "/pages/settings.json").status == 404)
        #expect(try self.answer(handler, "/openapi.json").status == 200)
    }

    /// Rules: R13.32.
    @Test func `a page's security policy contains the gateway on the request's host, and no other text of the request`()
        throws
    {
        // On the host `[::1]`, scripts may open WebSockets to the gateway at any port.
        let handler = try self.handler(PagesSettings(site: self.site()))
        let policy = self.header("Content-Security-Policy", of: try self.answer(handler, "/", ["host": "[::1]:81"]))
        #expect(policy?.contains("connect-src 'self' ws://[::1]:") == true)
        // This host header tries to add a directive to the policy.
        let forged = try self.answer(handler, "/", ["host": "a; script-src *"])
        #expect(self.header("Content-Security-Policy", of: forged)?.contains("connect-src 'self';") == true)
        let handlerWithSocket = try self.handler(
            PagesSettings(site: self.site(), webSockets: ["wss://live.example.org"]))
        let settings = String(decoding: try self.answer(handlerWithSocket, "/pages/settings.json").body, as: UTF8.self)
        #expect(settings == #"{"demoTokens":false,"gateways":["wss://live.example.org"],"imageOrigins":[]}"#)
    }

    /// Rules: R13.33.
    @Test func `a demo token lets a user log in for one hour, and is given only for a valid user id and name`() throws {
        let keyring = try AppKeyring(json: FakeCluster.Tokens.appsFile)
        let tokens = try #require(DemoTokens(app: "demo", keyring: keyring))
        #expect(DemoTokens(app: "nobody", keyring: keyring) == nil, "the app nobody has no key")
        let now = WallClock.now
        let token = try tokens.token(user: "mira", name: "Mira", at: now)
        let identity = try AppTokenAuthenticator(apps: FakeCluster.Tokens.appsFile).authenticate(token)
        #expect(identity.user == "mira" && identity.role == .user && identity.name == "Mira")
        #expect(identity.expiresAt == .seconds(now.seconds + 3600))
        #expect(throws: APIError.self) { try tokens.token(user: "not an id", name: nil, at: now) }
        #expect(throws: APIError.self) { try tokens.token(user: "a", name: "line\nbreak", at: now) }
        #expect(throws: APIError.self, "a name has at most 100 bytes") {
            try tokens.token(user: "a", name: String(repeating: "x", count: 101), at: now)
        }
    }

    /// Rules: R13.33.
    @Test
    func
        `demo tokens are given only to local or listed clients, for a local host name and a JSON body`()
        throws
    {
        let keyring = try AppKeyring(json: FakeCluster.Tokens.appsFile)
        let block = try #require(AddressBlock("172.16.0.0/12"))
        let tokens = try #require(DemoTokens(app: "demo", keyring: keyring, clients: [block]))
        func isAllowed(
            _ client: String, host: String?, contentType: String? = "application/json", isForwarded: Bool = false
        ) -> Bool {
            (try? tokens.check(
                client: IPAddress(client), host: host, contentType: contentType, isForwarded: isForwarded)) != nil
        }
        #expect(isAllowed("127.0.0.1", host: "localhost:8081"))
        #expect(isAllowed("::1", host: "[::1]:8081"))
        #expect(isAllowed("172.17.0.1", host: "127.0.0.1:8081"), "the client is in the listed block 172.16.0.0/12")
        #expect(!isAllowed("192.168.1.2", host: "127.0.0.1:8081"), "the client is neither local nor listed")
        // A foreign name server may give this machine's address for one of its own names (DNS rebinding). Then a
        // foreign page's requests reach this gateway from a browser on this machine, but they have the foreign host
        // name.
        #expect(!isAllowed("127.0.0.1", host: "rebound.example.org"))
        #expect(!isAllowed("127.0.0.1", host: nil))
        #expect(!isAllowed("127.0.0.1", host: "localhost", isForwarded: true), "anybody may be behind the proxy")
        #expect(isAllowed("172.17.0.1", host: "localhost", isForwarded: true), "a trusted proxy has named the client")
        #expect(!isAllowed("127.0.0.1", host: "localhost", contentType: "text/plain"))
        #expect(!isAllowed("127.0.0.1", host: "localhost", contentType: nil))
    }

    /// Rules: R13.31.
    @Test func `the pages of the source tree are found, read and compressed`() throws {
        let root = Repository.root.path
        let folder = try #require(PagesFolder.find(program: root + "/.build/x86_64-unknown-linux-gnu/debug/gateway"))
        #expect(folder == root + "/clients/web")
        let site = try PagesFolder.read(folder)
        let paths = Set(site.files.map(\.path))
        #expect(paths.isSuperset(of: ["/pages/index.html", "/pages/main.js", "/src/index.js"]))
        #expect(
            !paths.contains { $0.contains("test") || $0.hasSuffix(".ts") },
            "tests and type declarations are not served")
        let main = try #require(site.files.first { $0.path == "/pages/main.js" })
        #expect(main.gzip?.prefix(2) == [0x1F, 0x8B], "every gzip file begins with these two bytes")
        #expect(throws: PagesFolder.Problem.self) { try PagesFolder.read("/nonexistent") }
    }

    /// Rules: R13.31, R13.33, R13.34.
    @Test func `no setting of the pages is required, and each invalid one is reported by its name`() throws {
        /// The description of the error that the arguments cause; empty if they are valid.
        func problems(_ arguments: [String]) -> String {
            var reader = SettingsReader(program: "gateway", summary: "", arguments: arguments, environment: [:])
            let options = PagesOptions(&reader, program: "/nonexistent/gateway")
            // `auto` looks for pages beside the program, here in a folder that does not exist.
            #expect(options.lacksPages == arguments.contains("auto"))
            do throws(SettingsError) {
                try reader.finish()
                return ""
            } catch {
                return error.description
            }
        }
        #expect(problems([]).isEmpty)
        #expect(problems(["--pages", "auto"]).isEmpty)
        #expect(problems(["--pages", "on"]).contains("--pages"))
        #expect(problems(["--pages", "/nonexistent"]).contains("--pages"))
        #expect(problems(["--demo-tokens", "demo"]).contains("--demo-tokens"))
        #expect(problems(["--origins", "live.example.org"]).contains("--origins"))
        #expect(problems(["--web-sockets", "wss://live.example.org/v1"]).contains("--web-sockets"))
        #expect(problems(["--image-origins", "http://live.example.org"]).contains("--image-origins"))
        #expect(problems(["--demo-tokens-from", "x"]).contains("--demo-tokens-from"))
    }
}
