// SPDX-License-Identifier: Apache-2.0
package import ClusterKit

/// The parameters of a scale test.
package struct ScalePlan: Sendable {
    /// The kinds of work, one after the other.
    package var loads: [ScaleLoad]
    /// The numbers of instances, ascending; costs are compared with the first, which must be 1.
    ///
    /// After the last number, the test continues with the smaller ones, in descending order.
    package var instances = [1, 2, 4]
    /// How long the cost of each number of instances is measured.
    package var measuringTime = Duration.seconds(15)
    /// The number of lives with calls, per instance of the service; even, because co-hosts are pairs of lives.
    ///
    /// The load grows with the instances. Otherwise each instance would get fewer calls in a batch, and the fixed cost
    /// of a batch would make each call more expensive.
    package var lives = 24
    /// The time between two calls of one live while costs are measured.
    package var interval = Duration.milliseconds(150)
    /// The time between two calls of one live while the number of instances changes.
    ///
    /// The time is longer than `interval`, because messages are sent at the same time.
    package let intervalDuringChanges = Duration.milliseconds(600)
    /// The apps of the load of co-hosts (`ScaleLoad.coHostApps`); all other loads are in the demo app.
    package var coHostApps: [String]
    /// The beginning of the names of lives and users, unique in the cluster.
    package var name: String
    /// Makes a token for a user of an app.
    package var token: @Sendable (_ app: String, _ user: String) -> String

    package init(
        services: [ServiceKind], coHostApps: [String], name: String,
        token: @escaping @Sendable (_ app: String, _ user: String) -> String
    ) {
        self.loads = ScaleLoad.allCases.filter { services.contains($0.service) }
        self.coHostApps = coHostApps
        self.name = name
        self.token = token
    }

    /// The apps of a load.
    func apps(of load: ScaleLoad) -> [String] { load == .coHost ? self.coHostApps : [AppsFile.demoApp] }

    /// The time between two calls of one live while the cost of a load is measured.
    ///
    /// A gateway needs little processor time to answer a read, so what an idle gateway uses would hide the cost of few
    /// reads. Therefore the load of gateways has more calls: by default one in 60 ms, which is 17 reads a second for
    /// each user, who may make 20.
    func interval(of load: ScaleLoad) -> Duration { load == .gateway ? self.interval * 2 / 5 : self.interval }

    /// The number of lives of a load, per instance: enough that each app has a pair of lives.
    func lives(of load: ScaleLoad) -> Int { max(self.lives, 2 * self.apps(of: load).count) }
}
