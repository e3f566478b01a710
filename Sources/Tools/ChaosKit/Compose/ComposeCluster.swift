// SPDX-License-Identifier: Apache-2.0
package import ClusterKit

/// The containers of a compose project, as the Docker engine lists them.
package struct ComposeContainers: Hashable, Sendable {
    /// One container.
    struct Container: Hashable, Sendable {
        /// The service's name in `docker-compose.yml`.
        var service: String
        /// The number that compose gave it, from 1 on; after a service was scaled down, some numbers are missing.
        var number: Int
        /// The container's name in commands of Docker.
        var name: String
        /// Whether it runs, and is healthy if it has a health check.
        var isReady: Bool
    }

    /// What `docker ps` must print for each container.
    static let format = [
        #"{{.Label "com.docker.compose.service"}}"#, #"{{.Label "com.docker.compose.container-number"}}"#,
        #"{{.Label "com.docker.compose.oneoff"}}"#, "{{.Names}}", "{{.State}}", "{{.Status}}",
    ].joined(separator: "\t")

    /// All containers, ordered by service and number.
    let containers: [Container]

    /// Reads what `docker ps --format` printed; the containers of `compose run` are left out.
    package init(_ text: String) {
        var containers: [Container] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 6, let number = Int(fields[1]), fields[2] != "True" else { continue }
            // The status is `Up 5 seconds (healthy)`, `(unhealthy)` or `(health: starting)`. The status of a container
            // without a health check has no bracket. `(Paused)` and states such as `restarting` are not ready.
            let isReady = fields[4] == "running" && (!fields[5].contains("(") || fields[5].contains("(healthy)"))
            containers.append(Container(service: fields[0], number: number, name: fields[3], isReady: isReady))
        }
        self.containers = containers.sorted { ($0.service, $0.number) < ($1.service, $1.number) }
    }

    /// The names of a service's containers; the first one is called `SERVICE-1` in faults, whatever its number.
    package func names(of service: String) -> [String] {
        self.containers.filter { $0.service == service }.map(\.name)
    }

    /// The container of a process that a fault names, such as `gateway-2`, `broker-3` or `redis`; nil if there is none.
    package func name(of process: String) -> String? {
        let service = Fault.service(of: process)
        let number = process == service ? 1 : process.split(separator: "-").last.flatMap { Int($0) } ?? 1
        // The brokers are services of their own: `kafka`, `kafka-2`, `kafka-3`.
        if service == "broker" { return self.names(of: number == 1 ? "kafka" : "kafka-\(number)").first }
        let names = self.names(of: service)
        return names.indices.contains(number - 1) ? names[number - 1] : nil
    }

    /// The containers that are not ready.
    package var notReady: [String] { self.containers.filter { !$0.isReady }.map(\.name) }

    /// What the cluster consists of, which decides which faults are possible.
    package var shape: ClusterShape {
        let instances = Dictionary(
            uniqueKeysWithValues: ServiceKind.allCases.map { ($0, self.names(of: $0.rawValue).count) })
        let present = ServiceKind.allCases.filter { instances[$0, default: 0] > 0 }.map { $0.instanceName(1) }
        return ClusterShape(
            instances: instances, brokers: self.containers.count { $0.service.hasPrefix("kafka") },
            links: present.map { .kafka($0) } + present.filter { $0.hasPrefix("gateway") }.map { .clients($0) })
    }
}

/// A cluster of `docker-compose.yml` that runs already, and whose containers get faults.
///
/// After a kill, Docker's own restart policy starts services again; Redis and brokers are started again by the end
/// steps of the fault.
package struct ComposeCluster: Sendable {
    /// The name of the compose project.
    package let project: String
    private let engine: DockerEngine

    package init(project: String) {
        (self.project, self.engine) = (project, DockerEngine())
    }

    /// Lists the containers.
    ///
    /// - Throws: `ClusterError.commandFailed` when the engine does not answer.
    package func containers() async throws(ClusterError) -> ComposeContainers {
        ComposeContainers(
            try await self.docker([
                "ps", "-a", "--filter", "label=com.docker.compose.project=\(self.project)", "--format",
                ComposeContainers.format,
            ]))
    }

    /// The address of this host on which clients reach the gateways through the proxy, `HOST:PORT`.
    ///
    /// - Throws: `ClusterError.unknownProcess` when the project has no proxy.
    package func clientAddress() async throws(ClusterError) -> String {
        guard let proxy = try await self.containers().name(of: "proxy") else { throw .unknownProcess("proxy") }
        let text = try await self.docker(["port", proxy, "8080/tcp"])
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// The apps' keys, which a gateway has in its environment.
    ///
    /// - Throws: `ClusterError.unknownProcess` when the project has no gateway.
    package func appsJSON() async throws(ClusterError) -> String {
        guard let gateway = try await self.containers().name(of: "gateway-1") else {
            throw .unknownProcess("gateway-1")
        }
        return try await self.docker(["exec", gateway, "printenv", "LIVEPLAZA_APPS_JSON"])
    }

    /// Waits until every container runs and is healthy.
    ///
    /// - Throws: an error that names the containers that are not ready within `limit`; `ClusterError` when the engine
    ///   does not answer.
    package func waitUntilReady(within limit: Duration) async throws {
        let deadline = ContinuousClock.now + limit
        while true {
            let notReady = try await self.containers().notReady
            if notReady.isEmpty { return }
            guard ContinuousClock.now < deadline else { throw ContainersNotReady(names: notReady) }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Runs a command of Docker.
    ///
    /// - Returns: what the command printed.
    /// - Throws: `ClusterError.commandFailed`, with what the command printed, when it fails.
    @discardableResult
    func docker(_ arguments: [String]) async throws(ClusterError) -> String {
        try await self.engine.run(arguments)
    }

    private struct ContainersNotReady: Error, CustomStringConvertible {
        let names: [String]
        var description: String { "not ready: \(self.names.joined(separator: ", "))" }
    }
}
