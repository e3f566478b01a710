// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An attack by HTTP requests with extreme numbers in the query, in `Content-Length` and in `Idempotency-Age`.
package struct NumberHTTPAttack: Attack {
    package let name = "number-http"
    package let summary = "numbers at the ends of their ranges, in queries, lengths and headers of HTTP requests"
    package let channel = AttackChannel.http
    package let turnInterval: Duration? = nil

    /// At most 300 connections: five for each of the 60 combinations of one of 12 numbers with one of 5 requests.
    package func connectionCount(limit: Int) -> Int { min(limit, 300) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        // A replacement of a closed connection has the same index and a higher attempt, so it uses the next number.
        let number = HostileNumbers.all[(setting.index + setting.attempt) % HostileNumbers.all.count]
        let live = setting.honestLives.first?.text ?? "none"
        let methodsAndPaths = [
            "GET /v1/lives?cursor=gateway-1.1.\(number)", "GET /v1/lives?count=\(number)",
            "GET /v1/lives/\(live)/audience?cursor=\(number).\(number)",
            "GET /v1/lives/\(live)/bans?offset=\(number)", "POST /v1/call/live.get",
        ]
        // The first connections send the first request, each with another number; the next ones send the second
        // request with each number, and so on.
        let methodAndPath = methodsAndPaths[setting.index / HostileNumbers.all.count % methodsAndPaths.count]
        let contentLength = methodAndPath.hasPrefix("GET") ? "0" : number
        let request =
            HTTPRequestText.head(methodAndPath, token: setting.makeToken("\(setting.namePrefix)-\(setting.index)"))
            + "Idempotency-Age: \(number)\r\nContent-Length: \(contentLength)\r\n\r\n"
        return SingleShot(.raw(request))
    }
}

/// Makes the text of HTTP requests.
enum HTTPRequestText {
    /// The request line and the headers that every request has, without the empty line at the end.
    ///
    /// - Parameters:
    ///   - methodAndPath: such as `GET /v1/lives`.
    ///   - token: the caller's token; nil for none.
    /// - Returns: lines, each with its line break.
    static func head(_ methodAndPath: String, token: String?) -> String {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "\(methodAndPath) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(authorization)"
    }

    /// A whole request that makes a call, with the call's parameters as its JSON body.
    static func call(_ method: String, body: String, token: String?) -> String {
        self.head("POST /v1/call/\(method)", token: token)
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

/// A client that sends some bytes when its connection opens, and then nothing more.
struct SingleShot: AttackClient {
    private let action: AttackAction

    init(_ action: AttackAction) { self.action = action }

    mutating func opened() -> [AttackAction] { [self.action] }
}
