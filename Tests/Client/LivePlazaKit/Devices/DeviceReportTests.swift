// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// Which devices of a guest are open when the changed seat, notices and replies to device reports arrive in any order.
///
/// A device report is the call `seat.device`, by which the client tells the server that a device was opened or closed.
/// Each test begins with the user Carol on a seat, with an open camera and an open microphone.
@Suite struct DeviceReportTests {
    private let harness = StoreHarness()
    private let plaza: LivePlaza
    private var devices: DeviceStore { self.plaza.deviceStore }

    /// Makes Carol's client, and opens the devices of Carol, who sits on seat 1.
    init() {
        self.plaza = self.harness.makeClient()
        self.harness.loginAndEnter(self.plaza)
        self.receiveSeat(revision: 1, isCameraOn: false, isMicrophoneOn: false)
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.devices.openLocalMicrophone(completion: nil)
        self.harness.queue.drain()
        // The two devices have one report each.
        self.answerReport()
        self.answerReport()
        self.receiveSeat(revision: 2, isCameraOn: true, isMicrophoneOn: true)
    }

    /// Sends a feed item with a stage on which Carol sits with these devices.
    ///
    /// `revision`: the revision of the stage, and also the number of the item.
    private func receiveSeat(
        revision: Int64, isCameraOn: Bool, isMicrophoneOn: Bool, allowsMicrophone: Bool = true
    ) {
        // The role 2 is a viewer, neither owner nor admin.
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

    /// Sends the notice that a host has closed and locked a device.
    private func receiveLockNotice(of device: String, id: JSONValue = "3-11") {
        let host: JSONValue = ["avatarURL": "", "userID": "alice", "userName": "A"]
        self.harness.network.socket?.receive([
            "notice": [
                "at": 1, "id": id, "live": "concert", "to": "carol",
                "content": ["deviceClosedByAdmin": ["by": host, "device": .text(device)]],
            ]
        ])
        self.harness.queue.drain()
    }

    /// Answers the oldest device report that has no answer yet; with an error if there is an error code.
    private func answerReport(errorCode: Int64? = nil) {
        guard let call = self.harness.network.socket?.takeCall("seat.device") else {
            Issue.record("expected that the client has sent a device report")
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

    @Test func `a device that a host locks is closed when the notice arrives before the changed seat`() {
        self.receiveLockNotice(of: "microphone")
        #expect(!self.isMicrophoneOn && self.isCameraOn)
        self.receiveLockNotice(of: "camera", id: "3-12")
        #expect(!self.isMicrophoneOn && !self.isCameraOn)
        // The server knows that the devices are closed, so the client sends no report.
        #expect(self.harness.network.socket?.takeCall("seat.device") == nil)
    }

    @Test func `a device that a host locks is closed when the changed seat arrives before the notice`() {
        self.receiveSeat(revision: 3, isCameraOn: true, isMicrophoneOn: false, allowsMicrophone: false)
        #expect(!self.isMicrophoneOn && self.isCameraOn)
        self.receiveLockNotice(of: "microphone")
        #expect(!self.isMicrophoneOn && self.isCameraOn)
    }

    @Test func `a camera that was closed and opened again stays open when a seat shows the earlier closing`() {
        self.devices.closeLocalCamera()
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        self.answerReport()
        self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
        self.answerReport()
        #expect(self.isCameraOn)
    }

    @Test func `a camera that was closed and opened again stays open when that seat comes after the first reply`() {
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

    /// `isSeatFirst`: whether the seats with the reported devices come before the replies to the reports.
    ///
    /// Rules: R7.19.
    @Test(arguments: [false, true])
    func `a microphone that is muted while an unmute is under way stays muted and open`(isSeatFirst: Bool) {
        let media = TestMedia()
        self.devices.mediaEngine = media
        let seats = self.plaza.seatStore(liveID: "concert")
        seats.muteMicrophone()
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 3, isCameraOn: true, isMicrophoneOn: false)
        seats.unmuteMicrophone(completion: nil)
        seats.muteMicrophone()
        self.harness.queue.drain()
        if isSeatFirst {
            self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
            self.answerReport()
            #expect(media.isMuted)
            self.receiveSeat(revision: 5, isCameraOn: true, isMicrophoneOn: false)
            self.answerReport()
        } else {
            self.answerReport()
            #expect(media.isMuted)
            self.answerReport()
            self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
            self.receiveSeat(revision: 5, isCameraOn: true, isMicrophoneOn: false)
        }
        #expect(media.isMuted && self.isMicrophoneOn)
        // A later unmute counts.
        seats.unmuteMicrophone(completion: nil)
        self.harness.queue.drain()
        self.answerReport()
        #expect(!media.isMuted && self.isMicrophoneOn)
    }

    /// Rules: R7.19.
    @Test func `a microphone that is muted while its opening is reported stays muted and open`() {
        let media = TestMedia()
        self.devices.mediaEngine = media
        self.devices.closeLocalMicrophone()
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 3, isCameraOn: true, isMicrophoneOn: false)
        self.devices.openLocalMicrophone(completion: nil)
        self.harness.queue.drain()
        self.plaza.seatStore(liveID: "concert").muteMicrophone()
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
        self.answerReport()
        self.receiveSeat(revision: 5, isCameraOn: true, isMicrophoneOn: false)
        #expect(media.isMuted && self.isMicrophoneOn)
    }

    @Test func `a camera that the server turns off is closed, although the user did not close the camera`() {
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        #expect(!self.isCameraOn && self.isMicrophoneOn)
    }

    @Test func `a rejected report of an earlier opening does not close a camera that was opened again`() {
        // Carol loses the seat, opens the camera, and gets a seat again. Then the client reports the open camera.
        self.harness.receive([Self.stageWithoutSeats], from: 3)
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        self.receiveSeat(revision: 4, isCameraOn: false, isMicrophoneOn: false)
        self.devices.closeLocalCamera()
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        // The server rejects this first report, and accepts the reports of the closing and of the second opening.
        self.answerReport(errorCode: -1)
        self.answerReport()
        self.answerReport()
        #expect(self.isCameraOn)
    }

    @Test(arguments: [false, true])
    func `a camera that was reported as on is reported as off when its second opening is rejected`(
        isAnswered: Bool
    ) {
        let media = TestMedia()
        self.devices.mediaEngine = media
        self.devices.closeLocalCamera()
        self.harness.queue.drain()
        self.answerReport()
        self.receiveSeat(revision: 3, isCameraOn: false, isMicrophoneOn: true)
        self.devices.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        media.answerOpening(1, .noError)
        // The second opening begins while the report of the first one is under way.
        self.devices.openLocalCamera(isFront: false, completion: nil)
        self.harness.queue.drain()
        let firstReport = self.harness.network.socket?.takeCall("seat.device")
        #expect(firstReport?.params.members["camera"] == .bool(true))
        if isAnswered, let firstReport {
            self.harness.network.socket?.receive(["reply": ["id": .integer(firstReport.id), "result": ["done": [:]]]])
            self.receiveSeat(revision: 4, isCameraOn: true, isMicrophoneOn: true)
        }
        media.answerOpening(2, .occupiedError)
        self.harness.queue.drain()
        #expect(!self.isCameraOn && !media.isCameraOn)
        let secondReport = self.harness.network.socket?.takeCall("seat.device")
        #expect(secondReport?.params.members["camera"] == .bool(false))
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
