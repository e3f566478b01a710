// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Gateway
internal import HTTPServer
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// An HTTP request as libmicrohttpd passes it on: its request line, its headers with `X-Forwarded-For`, and its body.
///
/// Anyone who reaches the port can send it: the server reads all parts but the body before it checks the token.
public enum RequestsFuzz: FuzzTarget {
    /// Handles one input: a request as HTTP/1.1 writes it.
    public static func run(_ input: [UInt8]) {
        var rest = input[...]
        let requestLine = Self.takeLine(from: &rest).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard requestLine.count >= 2 else { return }
        let target = requestLine[1].split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var head = HTTPHead(
            method: Self.text(requestLine[0]), version: requestLine.count > 2 ? Self.text(requestLine[2]) : "",
            path: Self.text(target[0]),
            query: target.count > 1 ? Array(target[1]) : [], headers: [])
        while true {
            let line = Self.takeLine(from: &rest)
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { break }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            head.headers.append((Self.text(line[..<colon]), Self.text(value)))
        }
        var limits = HTTPLimits()
        limits.bodyBytes = 256 << 10
        var (request, failure) = head.request(within: limits)
        guard failure == nil else { return }
        Self.check(request)
        // The names of headers are compared without regard to case.
        head.headers = head.headers.map { ($0.name.uppercased(), $0.value) }
        precondition(head.request(within: limits).request == request, "the case of headers' names changes the request")
        request.body = Array(rest.prefix(limits.bodyBytes))
        Self.makeCall(of: request)
    }

    /// Checks what the router, the rates and the routes rely on.
    private static func check(_ request: HTTPRequest) {
        precondition(
            (1...32).contains(request.method.rawValue.utf8.count) && Self.isASCII(request.method.rawValue),
            "the method may take long to hash")
        precondition(request.path.utf8.first == UInt8(ascii: "/") && !request.segments.isEmpty, "the path is no path")
        for text in request.segments + request.query.flatMap({ [$0.name, $0.value] }) {
            precondition(!text.hasLongMarkRun && !text.utf8.contains(0), "the text may take long to compare")
        }
        for (name, value) in request.headers {
            precondition(Self.isASCII(name) && Self.isASCII(value), "the header may take long to compare")
            precondition(name == name.lowercased(), "the header would not be found")
        }
        precondition(request.announcedBodyBytes.map { (0...(256 << 10)).contains($0) } ?? true, "the body is too large")
        _ = request.bearerToken
        let proxies = TrustedProxies(["10.0.0.0/8", "fd00::/8"].compactMap { AddressBlock($0) })
        for text in ["10.0.0.1", "192.0.2.1"] {
            guard let peer = IPAddress(text) else { preconditionFailure("the peer is an address") }
            let client = proxies.client(peer: peer, forwardedFor: request.headers["x-forwarded-for"])
            precondition(IPAddress("\(client)") == client, "the address changes when its text is parsed")
            precondition(client == peer || proxies.contains(peer), "an untrusted peer decides the address")
        }
    }

    /// Converts the request to a call, and parses the call as the gateway does.
    private static func makeCall(of request: HTTPRequest) {
        switch RequestedCall(request) {
        case .unrouted: break
        case .rejected(let status): precondition([400, 415].contains(status), "the status is not the client's fault")
        case .call(let method, let params):
            precondition(Self.isASCII(method), "the method may take long to hash")
            guard let frame = try? CallFrame(id: 1, method: method, params: params) else { return }
            for role in [CallerRole.user, .server] {
                let caller = Caller(
                    user: UserInfo(userID: "alice"), role: role, request: RequestID(session: "s", counter: 1),
                    replyTo: "gateway-1")
                _ = try? CallParser(app: "demo", caller: caller).parse(frame)
            }
        }
    }

    /// Removes the first line, and returns it without its end.
    private static func takeLine(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let line = bytes[..<end]
        bytes = bytes[end...].dropFirst()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    /// A text as the server makes it of libmicrohttpd's bytes: bytes that are not UTF-8 are replaced.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}
