// SPDX-License-Identifier: Apache-2.0
import Foundation
import ViewerScreens

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Who the user is, and where the gateways are.
struct Account: Sendable {
    var userID: String
    var gateways: [String]
    /// The token; empty if `tokenProvider` gives it.
    var token = ""
    var tokenProvider: (@Sendable () async throws -> String)?

    /// Reads the user from the token, or asks the server of the browser pages for the gateways.
    ///
    /// - Throws: `SignInError` if that server does not answer or gives no demo tokens, or if the token names no user.
    init(_ signIn: Options.SignIn) async throws {
        switch signIn {
        case .token(let token, let gateways):
            guard let userID = Self.userID(of: token) else {
                throw SignInError(text: "the token is no JWT with a user")
            }
            self.userID = userID
            self.gateways = gateways
            self.token = token
        case .demo(let server, let name):
            let demo = DemoServer(address: server)
            let settings = try await demo.settings()
            guard settings.demoTokens else {
                throw SignInError(text: "\(server) gives no demo tokens: use --token, or start it with demo tokens")
            }
            guard !settings.gateways.isEmpty else { throw SignInError(text: "\(server) names no gateway") }
            let id = ViewerScreens.userID(ofName: name)
            self.userID = id
            // The settings may leave out the path of the protocol.
            self.gateways = settings.gateways.map { $0.hasSuffix("/v1") ? $0 : $0 + "/v1" }
            self.tokenProvider = { try await demo.token(user: id, name: name) }
        }
    }

    /// The user that a token is for: the claim `sub`.
    ///
    /// The signature is not checked, because that is the server's task.
    static func userID(of token: String) -> String? {
        struct Claims: Decodable { let sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // `Data` reads base64 with padding; the claims are in base64url without it.
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: String(text)) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: data).sub
    }
}

/// The server of the browser pages, which gives demo tokens.
struct DemoServer: Sendable {
    /// The part of the server's settings that the viewer needs.
    struct Settings: Decodable {
        let gateways: [String]
        let demoTokens: Bool
    }

    private struct Token: Decodable { let token: String }

    /// The address of the server, such as `http://127.0.0.1:8081`.
    let address: String

    /// The maximum time for an answer, in seconds.
    private static let timeout = 10.0

    /// Reads the addresses of the gateways, and whether the server gives demo tokens.
    func settings() async throws -> Settings { try await self.request("/pages/settings.json", body: nil) }

    /// Requests a token for any user; it is valid for an hour.
    func token(user: String, name: String) async throws -> String {
        let answer: Token = try await self.request("/pages/demo-token", body: ["user": user, "name": name])
        return answer.token
    }

    /// Sends a GET request, or a POST request with a JSON body, and decodes the answer.
    private func request<Answer: Decodable>(_ path: String, body: [String: String]?) async throws -> Answer {
        let base = self.address.hasSuffix("/") ? String(self.address.dropLast()) : self.address
        guard let url = URL(string: base + path), let scheme = url.scheme, ["http", "https"].contains(scheme) else {
            throw SignInError(text: "\(self.address) is no address such as http://127.0.0.1:8081")
        }
        var request = URLRequest(url: url, timeoutInterval: Self.timeout)
        if let body {
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(body)
        }
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw SignInError(
                text: "\(self.address) does not answer (is `plaza up` running?): \(error.localizedDescription)")
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200, let answer = try? JSONDecoder().decode(Answer.self, from: data) else {
            throw SignInError(text: "\(self.address)\(path) answers with status \(status)")
        }
        return answer
    }
}

/// The reason why the user cannot sign in.
struct SignInError: Error, CustomStringConvertible {
    let text: String
    var description: String { self.text }
}
