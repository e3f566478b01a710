// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

/// Settings that an app makes before its media engine is there, or before it replaces the engine.
@Suite struct DeviceSettingsTests {
    private let harness = StoreHarness()
    private let plaza: LivePlaza
    private var devices: DeviceStore { self.plaza.deviceStore }

    init() { self.plaza = self.harness.makeClient() }

    /// Sets an engine, and returns the settings that it has got.
    private func settings(ofNew media: TestMedia) -> [String] {
        self.devices.mediaEngine = media
        self.harness.queue.drain()
        return media.settings
    }

    private func makeSettings() {
        self.devices.switchCamera(isFront: false)
        self.devices.switchMirror(mirrorType: .disable)
        self.devices.updateVideoQuality(.quality1080P)
        self.devices.setAudioRoute(.earpiece)
        self.devices.setCaptureVolume(volume: 30)
        self.devices.setOutputVolume(140)
        self.harness.queue.drain()
    }

    private static let made = [
        "front false", "mirror disable", "quality quality1080P", "route earpiece", "capture 30", "output 100",
    ]

    /// Rules: R7.19.
    @Test func `an engine gets the settings that were made before it was set`() {
        self.makeSettings()
        #expect(self.settings(ofNew: TestMedia()) == Self.made)
        #expect(self.devices.state.value.captureVolume == 30)
        #expect(self.settings(ofNew: TestMedia()) == Self.made, "the next engine gets them as well")
    }

    @Test func `an engine gets the last value of a setting, and none of settings that the app has not made`() {
        #expect(self.settings(ofNew: TestMedia()) == [])
        self.devices.setOutputVolume(10)
        self.devices.setOutputVolume(20)
        self.harness.queue.drain()
        #expect(self.settings(ofNew: TestMedia()) == ["output 20"])
    }

    @Test func `an engine gets no settings from before a reset`() {
        self.makeSettings()
        self.devices.reset()
        self.harness.queue.drain()
        #expect(self.settings(ofNew: TestMedia()) == [])
    }

    @Test func `an engine that is replaced at once gets no settings`() {
        self.makeSettings()
        let replaced = TestMedia()
        self.devices.mediaEngine = replaced
        #expect(self.settings(ofNew: TestMedia()) == Self.made)
        #expect(replaced.settings == [])
    }
}
