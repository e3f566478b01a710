// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import DashboardKit
import Gateway
import GatewayCore
import Settings

/// `plaza dashboard`: a page that shows a running cluster, and kills its processes on request.
enum DashboardCommand: Subcommand {
    static let name = "dashboard"
    static let summary = "serves a page with live charts of a running cluster, on this machine alone"
    static let help = """
        serves a page that shows the cluster of a `plaza up` as it runs: its processes and their health, partitions \
        and their owners, connections, deliveries, times of calls, drops, the ledger, consumer lag, replays and dead \
        letters, as charts of the last 15 minutes, and each live with its counters. Beside each process a button kills \
        it (SIGKILL), and a clock shows how long its recovery takes. The page is served on 127.0.0.1 alone, \
        without a sign-in: whoever uses this machine may use it. Runs until Ctrl-C.

        For example: plaza up                    in one terminal
                     plaza dashboard             in another; then open the address that it prints
                     plaza load --rate 40        in a third: now kill a process, and see what happens
        """

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let port = reader.int(
            "port", default: 8070, range: 0...65_535, help: "the port on 127.0.0.1; 0: any free one")
        let pagesOption = reader.optionalString(
            "pages", placeholder: "DIR", help: "the folder of the pages; default: as a gateway finds it")
        let mayKill = !reader.flag("no-kill", help: "without the buttons that kill processes")
        let access = try ClusterAccess.read(&reader)
        guard !access.opsPorts.isEmpty else {
            throw AccessError("the dashboard shows the cluster of a `plaza up`: give --run-dir, not --gateway")
        }
        guard let folder = pagesOption ?? PagesFolder.find(program: PagesFolder.program) else {
            throw AccessError("the pages are not beside the program: name their folder, clients/web, by --pages")
        }
        let site: StaticSite
        do throws(PagesFolder.Problem) {
            site = try PagesFolder.read(folder)
        } catch {
            throw AccessError("\(folder): \(error.remedy)")
        }
        let signals = InterruptSignals()
        let cluster = DashboardCluster(access)
        let server = try DashboardServer(cluster, site: site, port: UInt16(port), mayKill: mayKill)
        let polling = Task { await cluster.pollUntilCancelled() }
        Subcommands.printLine("The dashboard is at http://127.0.0.1:\(server.port)/. Ctrl-C ends it.")
        _ = await signals.nextReason()
        polling.cancel()
        server.stop()
        return 0
    }
}
