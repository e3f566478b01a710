// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The error and the HTTP status with which a request is rejected.
struct APIError: Error {
    var status: Int
    var error: ReplyError

    /// Creates an error with the HTTP status that belongs to the error's code.
    init(_ error: ReplyError) {
        self.status = HTTPStatus.of(error.code)
        self.error = error
    }

    /// Creates an error with a code and a message; `status` is the HTTP status, or nil for the one that belongs to the
    /// code.
    init(_ code: ReplyCode, _ message: String, status: Int? = nil) {
        self.init(ReplyError(code, message))
        if let status { self.status = status }
    }

    /// The HTTP response: the error as the body, and the headers that its status requires.
    var response: HTTPResponse {
        var headers: [HTTPHeader] = []
        if self.status == 401 { headers.append(HTTPHeader("WWW-Authenticate", "Bearer")) }
        if self.status == 503 || self.status == 429 {
            // `retryAfter` is in milliseconds, the header in whole seconds, rounded up; one second if the error states
            // no time.
            let waitSeconds = max(1, ((self.error.retryAfter ?? 1000) + 999) / 1000)
            headers.append(HTTPHeader("Retry-After", "\(waitSeconds)"))
        }
        return HTTPResponse(status: self.status, headers: headers, body: Outcome.failure(error: self.error).json)
    }
}
