// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Testing

/// Tests of the message that `plaza up` prints when the cluster is ready.
@Suite struct ReadyMessageTests {
    @Test func `the last line names the page to open, and how to sign in there`() throws {
        var options = ClusterOptions(runDirectory: ".cluster")
        options.servesPages = true
        // A gateway that gives demo tokens lets anybody sign in.
        options.givesDemoTokens = true
        let address = "Open http://127.0.0.1:8081/ in a browser"
        #expect(try lines(options).last == "\(address): any name signs in.")
        options.givesDemoTokens = false
        #expect(try lines(options).last == "\(address): sign in with a token.")
    }

    @Test func `the message names the page only if a gateway serves the page`() throws {
        // First, no gateway is configured to serve pages; then the files of the pages are missing; then there is no
        // gateway.
        var options = ClusterOptions(runDirectory: ".cluster")
        #expect(try !lines(options).contains { $0.contains("Open") })
        options.servesPages = true
        #expect(try !lines(options, hasPages: false).contains { $0.contains("Open") })
        #expect(try !lines(options, gateways: []).contains { $0.contains("Open") })
    }

    @Test func `the next steps name the run directory unless it is the default one`() throws {
        let defaultLines = try lines(ClusterOptions(runDirectory: ".cluster"))
        #expect(defaultLines.contains("  gateway-1: WebSocket ws://127.0.0.1:8080, HTTP http://127.0.0.1:8081"))
        #expect(defaultLines.contains { $0.hasPrefix("  plaza status    lists") })
        let otherLines = try lines(ClusterOptions(runDirectory: "/tmp/other"))
        #expect(otherLines.contains { $0.hasPrefix("  plaza status --run-dir /tmp/other ") })
    }
}

/// The lines of the message for a cluster with these options and gateways.
///
/// `hasPages` is whether the files of the browser pages are installed.
private func lines(
    _ options: ClusterOptions, hasPages: Bool = true, gateways: [String] = ["gateway-1"]
) throws -> [String] {
    let gatewayJSON = gateways.map {
        """
        {"name": "\($0)", "webSocket": "ws://127.0.0.1:8080", "http": "http://127.0.0.1:8081", "host": "127.0.0.1",
         "port": 8080, "httpPort": 8081}
        """
    }.joined(separator: ",")
    let json = """
        {"version": 1, "supervisor": 1, "isWhole": true, "broker": "embedded", "kafka": "127.0.0.1:9092", "brokers": 1,
         "redis": "127.0.0.1:6379", "partitions": 2, "apps": "apps.json", "gateways": [\(gatewayJSON)],
         "processes": []}
        """
    let state = try JSONDecoder().decode(ClusterState.self, from: Data(json.utf8))
    return state.readyMessage(options: options, directory: RunDirectory(options.runDirectory), hasPages: hasPages)
        .components(separatedBy: "\n")
}
