// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// The state of the user's devices while the seat, notices and replies to device reports arrive in any order.
///
/// A device report is the call `seat.device`, by which the client tells the server that a device was opened or closed.
@Suite struct DeviceReportTests {
    private let harness = StoreHarness()
    private let plaza: LivePlaza
    private var devices: DeviceStore { self.plaza.deviceStore }

    /// A client whose user sits with an open camera and an open microphone.
    init() {
        self.plaza = self.harness.makeClient()
        self.harness.loginAndEnter(self.plaza)
        self.receiveSeat(revision: 1, isCameraOn: false, isMicrophoneOn: false)
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.devices.openLocalMicrophone(completion: nil)
        self.harness.queue.drain()
        // Each device has its own report.
        self.answerReport()
        self.answerReport()
        self.receiveSeat(revision: 2, isCameraOn: true, isMicrophoneOn: true)
    }

    /// Sends a stage on which the user sits with these devices; its revision is also the number of its feed item.
    private func receiveSeat(
        revision: Int64, isCameraOn: Bool, isMicrophoneOn: Bool, allowsMicrophone: Bool = true
    ) {
        // The role 2 is that of a user who is neither owner nor admin.
        let occupant: JSONValue = [
            "allowOpenCamera": true, "allowOpenMicrophone": .bool(allowsMicrophone), "isCameraOn": .bool(isCameraOn),
            "isMicrophoneOn": .bool(isMicrophoneOn), "live": "concert", "role": 2, "suspendStatus": "none",
            "user": EngineHarness.user,
        ]
        let seat: JSONValue = [
            "index": 1, "isCameraLocked": false, "isLocked": false, "isMicrophoneLocked": false, "occupant": occupant,
        ]
        let record: JSONValue = [
            "app": "demo", "epoch": 77, "live": "concert", "revision": .integer(revision), "seats": [seat], "v": 1,
            "layout": ["canvas": ["height": 1920, "templateID": 600, "width": 1080], "regions": []],
        ]
        self.harness.receive([["stage": ["events": [], "record": record]]], from: revision)
    }

    /// Sends the notice that a host has closed a device.
    private func receiveClosing(of device: String, id: JSONValue = "3-11") {
        let closingHost: JSONValue = ["avatarURL": "", "userID": "alice", "userName": "A"]
        self.harness.network.socket?.receive([
            "notice": [
                "at": 1, "id": id, "live": "concert", "to": "carol",
                "content": ["deviceClosedByAdmin": ["by": closingHost, "device": .text(device)]],
            ]
        ])
        self.harness.queue.drain()
    }

    /// Answers the first report of a device that is not answered yet.
    private func answerReport(errorCode: Int64? = nil) {
        guard let call = self.harness.network.socket?.takeCall("seat.device") else {
            Issue.record("no report was sent")
            return
        }
        let outcome: [String: JSONValue]
        if let errorCode {
            outcome = ["error": ["code": .integer(errorCode), "message": "", "name": ""]]
        } else {
            outcome = ["result": ["done": [:]]]
        }
        self.harness.network.socket?.receive([
            "reply": .object(outcome.merging(["id": .integer(call.id)]) { $1 })
        ])
        self.harness.queue.drain()
    }

    private var isCameraOn: Bool { self.devices.state.value.cameraStatus == .on }
    private var isMicrophoneOn: Bool { self.devices.state.value.microphoneStatus == .on }

    @Test func `a device closes when the notice that a host closed it arrives before the changed seat`() {
        self.receiveClosing(of: "microphone")
        #expect(!self.isMicrophoneOn && self.isCameraOn)
        self.receiveClosing(of: "camera", id: "3-12")
        #expect(!self.isMicrophoneOn && !self.isCameraOn)
        #expect(self.harness.network.socket?.takeCall("seat.device") == nil, "the server knows it already")
    }

    @Test func `a device closes when the changed seat arrives before the notice that a host closed it`() {
        self.receiveSeat(revision: 3, isCameraOn: true, isMicrophoneOn: false, allowsMicrophone: false)
        #expect(!self.isMicrophoneOn && self.isCameraOn)
        self.receiveClosing(of: "microphone")
        #expect(!self.isMicrophoneOn && self.isCameraOn)
    }

    @Test func `a camera that was closed and opened again stays open when the seat shows it closed`() {
        self.devices.closeLocalCamera()
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        self.answerReport()
        self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
        self.answerReport()
        #expect(self.isCameraOn)
    }

    @Test func `a camera that was closed and opened again stays open when the seat comes after the first reply`() {
        self.devices.closeLocalCamera()
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        self.answerReport()
        #expect(self.isCameraOn)
    }

    @Test func `a microphone that was muted and unmuted again stays open`() {
        let seats = self.plaza.seatStore(liveID: "concert")
        seats.muteMicrophone()
        self.harness.queue.drain()
        seats.unmuteMicrophone(completion: nil)
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 3, isCameraOn: true, isMicrophoneOn: false)
        self.answerReport()
        self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
        #expect(self.isMicrophoneOn)
    }

    @Test func `a camera that the server turns off without a report of the user is closed`() {
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        #expect(!self.isCameraOn && self.isMicrophoneOn)
    }

    @Test func `a refused report of the seat does not close a camera that was opened again`() {
        // The user loses the seat, opens the camera, and takes a seat again; then the open devices are reported.
        self.harness.receive([Self.stageWithoutSeats], from: 3)
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        self.receiveSeat(revision: 4, isCameraOn: false, isMicrophoneOn: false)
        self.devices.closeLocalCamera()
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        // The first report is refused; those of the closing and of the second opening are accepted.
        self.answerReport(errorCode: -1)
        self.answerReport()
        self.answerReport()
        #expect(self.isCameraOn)
    }

    private static let stageWithoutSeats: JSONValue = [
        "stage": [
            "events": [],
            "record": [
                "app": "demo", "epoch": 77, "live": "concert", "revision": 3, "seats": [], "v": 1,
                "layout": ["canvas": ["height": 1920, "templateID": 600, "width": 1080], "regions": []],
            ],
        ]
    ]
}
