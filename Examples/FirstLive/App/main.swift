// SPDX-License-Identifier: Apache-2.0
import FirstLiveSteps
import Foundation
import LivePlazaKit
import LivePlazaTransport

// FirstLive host|watch USER TOKEN: the program of docs/FIRST-LIVE.md.
guard CommandLine.arguments.count == 4 else {
    print("usage: FirstLive host|watch USER TOKEN")
    // `EX_USAGE` of sysexits.h.
    exit(64)
}
let (role, user, token) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])

// The app's number is not compared with the token if the token's app is a name, such as `demo`.
let options = PlazaOptions(gateways: ["ws://127.0.0.1:8080/v1"], transport: try LoopTransport())
let plaza = LivePlaza(options: options)
try await plaza.loginStore.login(sdkAppID: 0, userID: user, userSig: token)

if role == "host" {
    let liveID = try await goLive(plaza)
    print("\(liveID) is live. Ctrl-C ends this program.")
    async let seats: Void = giveSeats(in: liveID, plaza)
    await showMessages(of: liveID, plaza) { print($0) }
    await seats
} else if let liveID = try await watch(plaza) {
    print("watching \(liveID)")
    try await takePart(in: liveID, plaza)
    await showMessages(of: liveID, plaza) { print($0) }
} else {
    print("Nobody is live.")
}
