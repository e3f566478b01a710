// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import FoundationNetworking
import PlazaWire
import TestSupport
import Testing

/// Checks the HTTP API against its own OpenAPI description with the Python tool schemathesis.
///
/// The tool generates valid and invalid requests from the description, and validates each response.
@Suite(.serialized, .enabled(if: PythonPackages.hasPip, "needs python3 with pip")) struct APIContractTests {
    /// The checks of the tool for each response.
    private static let checks = [
        "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    ]
    /// The tool's options for generated requests.
    ///
    /// Its phase `coverage` derives requests from the description, and `fuzzing` adds 20 random ones for each
    /// operation. With `--generation-deterministic` (see `runTool`), each run has the same random requests.
    private static let generatedRequests = ["--phases", "coverage,fuzzing", "--max-examples", "20"]

    /// Rules: R13.10, R13.13.
    @Test(.timeLimit(.minutes(5)))
    func `every request to a running cluster gets a response that the description of the HTTP API allows`() async {
        await ConcurrentCase.run([
            ConcurrentCase("requests about existing resources") { try await Self.checkExistingResources() },
            // The cluster is empty, so most of the generated requests name resources that do not exist.
            ConcurrentCase("requests about missing resources") {
                try await TestCluster.with(TestCluster.options()) { cluster in
                    let token = try ClusterHarness(cluster).token("shop", isServer: true)
                    let gateway = try #require(cluster.gateways.first)
                    try await Self.runTool(on: gateway.http, token: token, Self.generatedRequests)
                }
            },
        ])
    }

    /// Makes resources, and runs the tool with requests that name them.
    private static func checkExistingResources() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let gateway = try #require(cluster.gateways.first)
            let serverToken = harness.token("shop", isServer: true)
            // These requests make the resources that `namedResources` names: two connected lives with their owners, and
            // gifts.
            for (method, path, body) in [
                ("POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#),
                ("POST", "/v1/lives", #"{"live":"duet","owner":"bob"}"#),
                ("PUT", "/v1/app/gift-categories/new", #"{"name":"New"}"#),
                ("PUT", "/v1/app/gifts/rose", #"{"name":"Rose","category":"new"}"#),
                ("POST", "/v1/call/cohost.request", #"{"live":"concert","to":["duet"]}"#),
                ("POST", "/v1/call/cohost.accept", #"{"live":"duet","inviter":"concert"}"#),
                ("POST", "/v1/lives/concert/bans", #"{"users":["eve"],"duration":-1,"reason":"spam"}"#),
                ("POST", "/v1/lives/concert/mutes", #"{"users":["carl"],"duration":600}"#),
                ("POST", "/v1/lives/concert/gifts", #"{"gift":"rose","from":"dora","count":3}"#),
            ] {
                let answer = try await harness.sendRequest(method, path, body, of: gateway.http, token: serverToken)
                #expect((200...201).contains(answer.status), "\(path): \(answer.text)")
            }
            let battleResponse = try await harness.sendRequest(
                "POST", "/v1/battles", #"{"live":"concert","to":["duet"],"duration":300}"#, of: gateway.http,
                token: serverToken)
            let result = try Wire.decode(JSONValue.self, from: Array(battleResponse.text.utf8)).members["result"]
            guard battleResponse.status == 201, case .text(let battleID)? = result?.members["battle"]?.members["battle"]
            else {
                Issue.record("there is no battle: \(battleResponse.text)")
                return
            }
            let namedResources = """
                [parameters]
                "path.live" = "concert"
                "path.user" = "alice"
                "path.gift" = "rose"
                "path.category" = "new"
                "path.battle" = "\(battleID)"
                """
            // The two excluded operations could end the live: `endLive`, and `call`, which can make any call.
            try await Self.runTool(
                on: gateway.http, token: serverToken,
                Self.generatedRequests + ["--exclude-operation-id", "endLive", "--exclude-operation-id", "call"],
                configuration: namedResources)
            // With a user's token, reads are answered, and all other requests are rejected with a documented status.
            try await Self.runTool(on: gateway.http, token: harness.token("bob"), ["--phases", "coverage"])
            // The first of these requests ends the live.
            try await Self.runTool(
                on: gateway.http, token: serverToken, ["--phases", "coverage", "--include-operation-id", "endLive"],
                configuration: namedResources)
            let responseAfterEnd = try await harness.sendRequest(
                "GET", "/v1/lives/concert", "", of: gateway.http, token: serverToken)
            #expect(responseAfterEnd.status == 404, "the live must have ended")
        }
    }

    /// Runs the tool, and records an issue if the tool finds a fault.
    ///
    /// `configuration` is the text of the tool's configuration file, which may give values for parameters.
    private static func runTool(
        on url: String, token: String, _ options: [String], configuration: String = ""
    ) async throws {
        let packages = try #require(PythonPackages.path, "the packages of Tests/requirements.txt are not there")
        let folder = FileManager.default.temporaryDirectory.appending(path: "liveplaza-api-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configurationFile = folder.appending(path: "schemathesis.toml")
        try Data(configuration.utf8).write(to: configurationFile)
        // The check `negative_data_rejection` expects that each invalid request is rejected. A configuration may make a
        // request valid, because its values may replace the invalid part. So the check runs only without configuration.
        let checks = Self.checks + (configuration.isEmpty ? ["negative_data_rejection"] : [])
        let arguments =
            [
                "python3", "-m", "schemathesis.cli", "--config-file", configurationFile.path, "run",
                "\(url)/openapi.json", "--checks",
                checks.joined(separator: ","), "--header", "Authorization:Bearer \(token)",
                "--generation-deterministic",
                "--request-timeout", "15", "--suppress-health-check", "all",
                "--warnings", "off", "--no-color", "--continue-on-failure",
            ] + options
        let (end, output) = try await runOnDedicatedThread {
            try TestProcess.run(
                arguments, environment: PythonPackages.environment(packages: packages), directory: folder.path)
        }
        #expect(end == .exited(0), "the tool found a fault: \(output.suffix(8000))")
    }
}

extension ClusterHarness {
    /// Sends a request over HTTP; returns the status and the body of the response.
    func sendRequest(
        _ method: String, _ path: String, _ body: String, of base: String, token: String
    ) async throws -> (status: Int, text: String) {
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        if !body.isEmpty {
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}
