// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaKit
import ViewerScreens

// How the viewer shows values of the stores.

extension LiveUserInfo {
    var shownName: String { self.userName.isEmpty ? self.userID : self.userName }
}

extension SeatUserInfo {
    /// The name, else the id of the user, else the id of the live that has this place on a stage of several lives.
    var shownName: String { self.userName.isEmpty ? (self.userID.isEmpty ? self.liveID : self.userID) : self.userName }
}

extension Barrage {
    var shownText: String { self.messageType == .text ? self.textContent : "[\(self.businessID)] \(self.data)" }
}

extension SeatBox {
    init(_ seat: SeatInfo, of state: LiveSeatState) {
        let user = seat.userInfo
        self.init(index: seat.index, name: user.userID.isEmpty ? "" : user.shownName)
        self.isOwner = user.role == .owner
        self.isLocked = seat.isLocked
        self.isMicrophoneOn = user.microphoneStatus == .on
        self.isCameraOn = user.cameraStatus == .on
        self.isSpeaking = !user.userID.isEmpty && state.speakingUsers[user.userID, default: 0] > 0
        let (region, canvas) = (seat.region, state.canvas)
        if canvas.w > 0, canvas.h > 0, region.w > 0, region.h > 0 {
            let (width, height) = (Double(canvas.w), Double(canvas.h))
            self.region = Region(
                x: Double(region.x) / width, y: Double(region.y) / height, width: Double(region.w) / width,
                height: Double(region.h) / height)
        }
    }
}

extension BattleBar {
    init(_ battle: BattleInfo, _ state: BattleState) {
        self.init(
            sides: state.battleUsers.map {
                Side(name: $0.shownName, score: Int(clamping: state.battleScore[$0.userID] ?? 0))
            },
            // From seconds to milliseconds.
            endTime: Double(battle.endTime) * 1000)
    }
}
