// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import Testing

/// The site of the web pages: its files, their headers, and the origins and hosts that may use the gateway.
@Suite struct StaticSiteTests {
    /// The body of the script `pages/main.js`.
    private let body = Array(String(repeating: "export const text = 'hello';\n", count: 20).utf8)

    /// The script `pages/main.js`, whose compressed form is `gzip`; the bytes need not be valid gzip.
    private func file(gzip: [UInt8] = [1, 2, 3]) throws -> StaticSite.File {
        var site = StaticSite()
        site.add("pages/main.js", body: self.body, gzip: gzip)
        return try #require(site.files.first)
    }

    private func header(_ name: String, of response: StaticSite.Response) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    /// Rules: R13.31.
    @Test func `a file is served with its type and entity tag, and a client that sends the tag gets status 304`() throws
    {
        let file = try self.file()
        #expect(file.path == "/pages/main.js")
        let response = StaticSite.response(for: file, ifNoneMatch: nil, acceptEncoding: nil)
        #expect(response.status == 200)
        #expect(response.body == self.body)
        #expect(self.header("Content-Type", of: response) == "text/javascript; charset=utf-8")
        let tag = try #require(self.header("ETag", of: response))
        for condition in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let unchanged = StaticSite.response(for: file, ifNoneMatch: condition, acceptEncoding: nil)
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            #expect(self.header("ETag", of: unchanged) == tag)
        }
        #expect(StaticSite.response(for: file, ifNoneMatch: "\"other\"", acceptEncoding: nil).status == 200)
    }

    /// Rules: R13.31.
    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("br, GZIP ;q=0.5", true), ("*", true), ("gzip;q=0, *", false),
            ("*;q=0", false), ("gzip; q=0.000", false), ("identity", false),
        ] as [(String?, Bool)])
    func `a client that accepts gzip gets the compressed file, which has an entity tag of its own`(
        _ acceptEncoding: String?, _ isGzip: Bool
    ) throws {
        let response = StaticSite.response(for: try self.file(), ifNoneMatch: nil, acceptEncoding: acceptEncoding)
        #expect((self.header("Content-Encoding", of: response) == "gzip") == isGzip)
        #expect(response.body == (isGzip ? [1, 2, 3] : self.body))
        #expect(self.header("ETag", of: response)?.hasSuffix("-gz\"") == isGzip)
        #expect(self.header("Vary", of: response) == "Accept-Encoding")
    }

    /// Rules: R13.31.
    @Test func `a file that gzip does not make shorter is sent uncompressed`() throws {
        // The compressed form is one byte longer than the script.
        let file = try self.file(gzip: self.body + [0])
        let response = StaticSite.response(for: file, ifNoneMatch: nil, acceptEncoding: "gzip")
        #expect(response.body == self.body)
        #expect(self.header("Content-Encoding", of: response) == nil)
    }

    /// Rules: R13.31.
    @Test(arguments: [
        ("pages/main.js", true), ("src/core/state/live.js", true), ("pages/icon.svg", true), ("src/index.d.ts", false),
        ("pages/.git/x.js", false), ("pages/../x.js", false), ("pages//x.js", false), ("pages/a b.js", false),
        ("pages/README", false), ("pages/x.js\n", false), ("pages/{live}.js", false),
    ])
    func `only files of known types whose paths have no hidden or invalid parts are served`(
        _ path: String, _ isServed: Bool
    ) {
        #expect(StaticSite.canContain(fileAt: path) == isServed)
    }

    /// Rules: R13.31.
    @Test func `files with different contents have different entity tags`() throws {
        var site = StaticSite()
        site.add("pages/a.js", body: Array("a".utf8), gzip: Array("not used".utf8))
        site.add("pages/b.js", body: Array("b".utf8), gzip: Array("not used".utf8))
        #expect(Set(site.files.map(\.entityTag)).count == 2)
    }

    /// Rules: R13.32.
    @Test func `the security policy allows a page its own origin, the gateway's socket and the image origins only`() {
        let policy = StaticSite.securityPolicy(
            webSockets: ["ws://127.0.0.1:8080"], imageOrigins: ["https://images.example.org"])
        #expect(
            policy == "default-src 'none'; script-src 'self'; style-src 'self'; "
                + "img-src 'self' https://images.example.org; connect-src 'self' ws://127.0.0.1:8080; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        #expect(!policy.contains("unsafe"))
    }

    /// Rules: R13.32.
    @Test(
        arguments: [
            ("live.example.org", "live.example.org"), ("Live.Example.org:8081", "live.example.org"),
            ("127.0.0.1:1", "127.0.0.1"), ("[::1]:8081", "[::1]"), ("[::1]", "[::1]"), ("", nil), (":80", nil),
            ("a b", nil), ("a;script-src *", nil), ("a/b", nil), ("a:b", nil), ("a:", nil), ("[::1", nil), ("[x]", nil),
            ("a:123456", nil), ("user@a", nil),
        ] as [(String, String?)])
    func `a host header gives its name or address, and an invalid one gives nothing`(_ host: String, _ name: String?) {
        #expect(WebOrigins.hostName(of: host) == name)
    }

    /// Rules: R13.34.
    @Test func `with a list of origins, only pages of these origins and of the gateway's own host are answered`() {
        let origins = WebOrigins(["https://live.example.org"])
        #expect(origins.allows("https://live.example.org", host: "gateway.example.org"))
        #expect(origins.allows("https://LIVE.example.org", host: "gateway.example.org"))
        #expect(!origins.allows("http://live.example.org", host: "gateway.example.org"))
        #expect(!origins.allows("https://evil.example.org", host: "gateway.example.org"))
        #expect(!origins.allows("null", host: "gateway.example.org"))
        #expect(origins.allows(nil, host: "gateway.example.org"), "a client that is no browser sends no origin")
        #expect(
            origins.allows("http://127.0.0.1:8081", host: "127.0.0.1:8080"),
            "the page is of the gateway's own host, at another port")
        #expect(
            !origins.allows("http://127.0.0.1:8081", host: nil),
            "without a host header the gateway does not know its own host")
        #expect(
            WebOrigins().allows("https://evil.example.org", host: "gateway.example.org"),
            "without a list all origins are allowed")
    }

    /// Rules: R13.33.
    @Test func `only localhost and IP addresses are hosts that no foreign name server can point to this machine`() {
        for name in ["localhost", "127.0.0.1", "[::1]", "192.168.1.7"] { #expect(WebOrigins.isLocalOrAddress(name)) }
        for name in ["evil.example.org", "localhost.evil.org", "1.2.3.4.evil.org", "1.2.3", "256.1.1.1"] {
            #expect(!WebOrigins.isLocalOrAddress(name))
        }
    }
}
