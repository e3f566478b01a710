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

    @Test func `connections and battles`() {
        #expect([CoHostStatus.connected, .disconnected].map(\.rawValue) == [0, 1])
        let layouts: [CoHostLayoutTemplate] = [.hostVoiceConnection, .hostDynamicGrid, .hostDynamic1v6]
        #expect(layouts.map(\.rawValue) == [2, 600, 601])
        #expect([BattleEndedReason.timeOver, .allMemberExit].map(\.rawValue) == [0, 1])
    }
}
