// SPDX-License-Identifier: Apache-2.0
import AppInSwift5
import AppInSwift6
import Dispatch
import LivePlazaTesting
import Testing

/// What both builds of the app's code (`AppCode`) offer.
@MainActor private protocol App: AnyObject {
    /// The calls that were made.
    var begun: [String] { get }
    /// The calls that have ended; a call that has failed is followed by `:` and its error.
    var ended: [String] { get }
    /// What the subscriptions have received.
    var shown: [String] { get }
    func login(userID: String, token: String)
    func goLive()
    func enter()
    func useList()
    func useAudience(of viewer: String)
    func useChat()
    func useSeats(with user: String)
    func useHosts(of live: String, host: String)
    func useDevices()
    func close(asOwner: Bool)
}

extension AppInSwift5.AppCode: @MainActor App {}
extension AppInSwift6.AppCode: App {}

/// Runs an app's code, which calls every method of every store, in Swift 5 mode and in Swift 6 mode.
@MainActor @Suite struct AppCodeTests {
    @Test(arguments: [5, 6])
    func `every call of an app ends, and its subscriptions show the live`(swiftVersion: Int) throws {
        // The app's code in Swift 6 mode is on the main actor, so the cluster runs on the main queue.
        let cluster = SimulatedCluster(seed: 3, queue: .main)
        func makeLoggedInApp(_ user: String) -> any App {
            let plaza = cluster.client(user)
            let app: any App =
                swiftVersion == 5
                ? AppInSwift5.AppCode(plaza: plaza, liveID: "eve") : AppInSwift6.AppCode(plaza: plaza, liveID: "eve")
            app.login(userID: user, token: cluster.token(user))
            cluster.advance(by: .seconds(1))
            return app
        }
        let (host, viewer) = (makeLoggedInApp("host"), makeLoggedInApp("viewer"))
        host.goLive()
        cluster.advance(by: .seconds(1))
        viewer.enter()
        cluster.advance(by: .seconds(1))
        for (app, otherUser) in [(viewer, "host"), (host, "viewer")] {
            app.useList()
            app.useChat()
            cluster.advance(by: .seconds(5))
            app.useSeats(with: otherUser)
            app.useDevices()
            cluster.advance(by: .seconds(5))
            // There is no such live, so these calls fail. They must end all the same.
            app.useHosts(of: "other", host: "rival")
            cluster.advance(by: .seconds(5))
        }
        host.useAudience(of: "viewer")
        cluster.advance(by: .seconds(5))
        host.close(asOwner: true)
        viewer.close(asOwner: false)
        cluster.advance(by: .seconds(5))
        for app in [host, viewer] {
            let endedCalls = app.ended.map { call in String(call.prefix { $0 != ":" }) }
            #expect(endedCalls.sorted() == app.begun.sorted())
        }
        // What an owner may do has succeeded.
        for call in ["login", "setSelfInfo", "createLive", "fetchLiveList", "sendTextMessage", "lockSeat", "endLive"] {
            #expect(host.ended.contains(call), "\(host.ended)")
        }
        let shown = host.shown.joined(separator: "; ")
        for text in ["login logined", "welcome viewer", #"messages ["hello""#, "viewer applies", "viewer is muted"] {
            #expect(shown.contains(text), "no \(text): \(shown)")
        }
    }
}
