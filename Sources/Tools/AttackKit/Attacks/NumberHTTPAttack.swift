// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// HTTP requests with numbers at the ends of their ranges: in the query, in `Content-Length`, in `Idempotency-Age`.
package struct NumberHTTPAttack: Attack {
    package let name = "number-http"
    package let summary = "the same numbers in queries, lengths and headers of HTTP requests"
    package let channel = AttackChannel.http
    package let turnInterval: Duration? = nil

    package func connections(limit: Int) -> Int { min(limit, 300) }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        let number = HostileNumbers.all[(setting.index + setting.attempt) % HostileNumbers.all.count]
        let live = setting.honestLives.first?.text ?? "none"
        let requestTargets = [
            "GET /v1/lives?cursor=gateway-1.1.\(number)", "GET /v1/lives?count=\(number)",
            "GET /v1/lives/\(live)/audience?cursor=\(number).\(number)",
            "GET /v1/lives/\(live)/bans?offset=\(number)", "POST /v1/call/live.get",
        ]
        // Consecutive connections use all numbers with one request, and then with the next.
        let target = requestTargets[setting.index / HostileNumbers.all.count % requestTargets.count]
        let request =
            HTTPRequestText.head(target, token: setting.makeToken("\(setting.namePrefix)-\(setting.index)"))
            + "Idempotency-Age: \(number)\r\nContent-Length: \(target.hasPrefix("GET") ? "0" : number)\r\n\r\n"
        return SingleShot(.raw(request))
    }
}

/// Makes the text of HTTP requests.
enum HTTPRequestText {
    /// The request line and the headers that every request has, without the empty line at the end.
    ///
    /// - Parameters:
    ///   - target: the method and the path.
    ///   - token: the caller's token; nil for none.
    /// - Returns: lines, each with its line break.
    static func head(_ target: String, token: String?) -> String {
        let token = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "\(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(token)"
    }

    /// A whole call with a JSON body.
    static func call(_ method: String, body: String, token: String?) -> String {
        self.head("POST /v1/call/\(method)", token: token)
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

/// A client that sends some bytes when its connection opens, and then nothing more.
struct SingleShot: AttackClient {
    private let bytes: AttackBytes

    init(_ bytes: AttackBytes) { self.bytes = bytes }

    mutating func opened() -> [AttackBytes] { [self.bytes] }
}
