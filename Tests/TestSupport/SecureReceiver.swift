// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation

/// An app's backend with TLS, whose certificate a private authority signed: Python's `http.server` and `ssl`.
///
/// The backend answers every POST with status 200 and the body `{"code":0}`.
package final class SecureReceiver: Sendable {
    /// The port on 127.0.0.1.
    package let port: Int
    private let process: TestProcess

    /// Starts the backend; blocks until it listens.
    ///
    /// - Throws: an error if Python cannot be started or does not listen.
    package init(_ authority: PrivateAuthority) throws {
        self.process = try TestProcess(
            ["python3", "-c", Self.script, authority.serverCertificate, authority.serverKey], errors: .nothing)
        // The first line of the output is the port; 10 is the end of a line.
        var line: [UInt8] = []
        while let byte = try self.process.output.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            throw TestServerError("Python did not start a server with TLS.")
        }
        self.port = port
    }

    /// Stops the backend.
    package func stop() {
        try? self.process.input.close()
        _ = self.process.waitForEnd()
    }

    /// The Python server, whose arguments are the files of its certificate and its key.
    ///
    /// The server ends when its standard input ends, so it never outlives the test.
    private static let script = """
        import http.server, os, ssl, sys, threading
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b'{"code":0}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        os._exit(0)
        """
}
