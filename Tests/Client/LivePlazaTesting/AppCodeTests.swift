// SPDX-License-Identifier: Apache-2.0
import AppInSwift5
import AppInSwift6
import Dispatch
import LivePlazaTesting
import Testing

/// What the app's code (`AppCode`) offers in both of its builds.
@MainActor private protocol App: AnyObject {
    /// The names of the calls that were made with a completion.
    var madeCalls: [String] { get }
    /// The names of the calls that have ended; after a failed call its name is followed by `:` and the error.
    var endedCalls: [String] { get }
    /// Texts about the states and events that the app's subscriptions have received.
    var shown: [String] { get }
    func login(userID: String, token: String)
    func goLive()
    func enter()
    func useList()
    func useAudience(with viewer: String)
    func useChat()
    func useSeats(with user: String)
    func useConnection(with live: String, of host: String)
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
            let app: any App
            if swiftVersion == 5 {
                app = AppInSwift5.AppCode(plaza: plaza, liveID: "eve")
            } else {
                app = AppInSwift6.AppCode(plaza: plaza, liveID: "eve")
            }
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
            // There is no live `other`, so these calls fail. A failed call must end, too.
            app.useConnection(with: "other", of: "rival")
            cluster.advance(by: .seconds(5))
        }
        host.useAudience(with: "viewer")
        cluster.advance(by: .seconds(5))
        host.close(asOwner: true)
        viewer.close(asOwner: false)
        cluster.advance(by: .seconds(5))
        for app in [host, viewer] {
            // The names of the calls, without the errors of failed ones.
            let endedCalls = app.endedCalls.map { call in String(call.prefix { $0 != ":" }) }
            #expect(endedCalls.sorted() == app.madeCalls.sorted())
        }
        // An owner may make these calls, so they must have succeeded: no error follows the name.
        for call in ["login", "setSelfInfo", "createLive", "fetchLiveList", "sendTextMessage", "lockSeat", "endLive"] {
            #expect(host.endedCalls.contains(call), "expected that \(call) succeeds: \(host.endedCalls)")
        }
        let shown = host.shown.joined(separator: "; ")
        for text in ["login logined", "welcome viewer", #"messages ["hello""#, "viewer applies", "viewer is muted"] {
            #expect(shown.contains(text), "expected that the host's app shows '\(text)': \(shown)")
        }
    }
}
