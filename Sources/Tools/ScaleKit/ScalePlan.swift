// SPDX-License-Identifier: Apache-2.0
package import ClusterKit

/// The parameters of a scale test.
package struct ScalePlan: Sendable {
    /// The kinds of work, one after the other.
    package var loads: [ScaleLoad]
    /// The numbers of instances, ascending; the first must be 1, because costs are compared with those of one instance.
    ///
    /// After the last number, the test goes back through the smaller numbers in descending order.
    package var instances = [1, 2, 4]
    /// How long the cost of each number of instances is measured.
    package var measuringTime = Duration.seconds(15)
    /// The number of lives with calls, per instance of the service; even, because co-hosts are pairs of lives.
    ///
    /// The load grows with the number of instances. With a constant load, each instance would get fewer calls in a
    /// batch as instances are added. Then each call would cost more, because every batch has a fixed cost.
    package var lives = 24
    /// The time between two calls of one live while costs are measured.
    package var interval = Duration.milliseconds(150)
    /// The time between two calls of one live while the number of instances changes.
    ///
    /// It is longer than `interval`, because the instances also carry messages at that time.
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
    /// A gateway answers a read in little processor time. So the cost of few reads would be hidden by the time that an
    /// idle gateway uses. Therefore the load of gateways has more calls: by default one in 150 * 2 / 5 = 60 ms. These
    /// are 17 reads a second for each user, who may make 20.
    func interval(of load: ScaleLoad) -> Duration { load == .gateway ? self.interval * 2 / 5 : self.interval }

    /// The number of lives of a load, per instance: `lives`, or more if each app needs a pair of lives.
    func lives(of load: ScaleLoad) -> Int { max(self.lives, 2 * self.apps(of: load).count) }
}
