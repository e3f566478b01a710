// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import Testing

/// The raw values of enumerations, which apps store and send under the numbers that they know.
@Suite struct RawValueTests {
    @Test func `login and list`() {
        #expect([LoginStatus.unlogin, .logined].map(\.rawValue) == [0, 1])
        #expect([LiveEndedReason.endedByHost, .endedByServer].map(\.rawValue) == [1, 2])
        let kicks: [LiveKickedOutReason] = [
            .byAdmin, .byLoggedOnOtherDevice, .byServer, .forNetworkDisconnected,
            .forJoinRoomStatusInvalidDuringOffline, .forCountOfJoinedRoomsExceedLimit,
        ]
        #expect(kicks.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect([Role.owner, .admin, .generalUser].map(\.rawValue) == [0, 1, 2])
    }

    @Test func `messages, seats and requests`() {
        #expect([BarrageType.text, .custom].map(\.rawValue) == [0, 1])
        #expect([DeviceStatus.off, .on].map(\.rawValue) == [0, 1])
        #expect([SuspendStatus.none, .inBackground, .inCalling].map(\.rawValue) == [0, 1, 2])
        #expect([MoveSeatPolicy.abortWhenOccupied, .forceReplace, .swapPosition].map(\.rawValue) == [0, 1, 2])
        #expect([NoResponseReason.timeout, .alreadySeated].map(\.rawValue) == [0, 1])
    }

    /// The reference names these cases without numbers, so the numbers are LivePlazaKit's own.
    ///
    /// They must not change, because apps may have stored them.
    @Test func `numbers that no reference gives`() {
        #expect([Gender.unknown, .male, .female].map(\.rawValue) == [0, 1, 2])
        #expect([AllowType.allowAny, .needConfirm, .denyAny].map(\.rawValue) == [0, 1, 2])
        let faults: [DeviceError] = [
            .noError, .noDeviceDetected, .noSystemPermission, .notSupportCapture, .occupiedError, .unknownError,
        ]
        #expect(faults.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        let networks: [NetworkQuality] = [.unknown, .excellent, .good, .poor, .bad, .veryBad, .down]
        #expect(networks.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
        let videos: [VideoQuality] = [.quality360P, .quality540P, .quality720P, .quality1080P]
        #expect(videos.map(\.rawValue) == [0, 1, 2, 3])
        #expect([MirrorType.auto, .enable, .disable].map(\.rawValue) == [0, 1, 2])
        #expect([AudioRoute.speakerphone, .earpiece].map(\.rawValue) == [0, 1])
        #expect([DeviceControlPolicy.unlockOnly].map(\.rawValue) == [0])
        #expect([ViewLayer.foreground, .background].map(\.rawValue) == [0, 1])
    }

    @Test func `connections and battles`() {
        #expect([CoHostStatus.connected, .disconnected].map(\.rawValue) == [0, 1])
        let layouts: [CoHostLayoutTemplate] = [.hostVoiceConnection, .hostDynamicGrid, .hostDynamic1v6]
        #expect(layouts.map(\.rawValue) == [2, 600, 601])
        #expect([BattleEndedReason.timeOver, .allMemberExit].map(\.rawValue) == [0, 1])
    }
}
