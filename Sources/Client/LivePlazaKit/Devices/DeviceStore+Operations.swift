// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension DeviceStore {
    /// The operation that opens a device and reports it to the seat.
    ///
    /// `isFront`: whether the camera on the side of the screen is used; without effect on the microphone.
    func openOperation(_ device: Device, isFront: Bool = true) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            let (callNumber, muteCount) = self.progress.withLock {
                ($0.calls.begin(device, opens: true), $0.muteCount)
            }
            try await self.startCapture(by: device, isFront: isFront, callNumber, on: engine)
            do throws(ErrorInfo) {
                try self.throwIfReplaced(callNumber, device)
                // A microphone that was muted while it was being opened is reported when it is unmuted.
                if device != .microphone || self.muteCount == muteCount {
                    try await engine.reportDevice(device, isOn: true)
                    try self.throwIfReplaced(callNumber, device)
                } else {
                    self.muteOpenedMicrophone()
                }
            } catch {
                self.closeAfterFailure(of: callNumber, device)
                throw error
            }
            if device == .microphone { self.unmuteMicrophone(unlessMutedSince: muteCount) }
            self.changeState { $0[keyPath: device.status] = .on }
        }
    }

    /// Lets the media engine open a device, and waits until the device is open or the opening has failed.
    ///
    /// If the media engine does not answer in time, the device is closed, and closed again if it is opened later. If
    /// the media engine answers with an error, the device is closed only if it was off. A device that was on stays on.
    private func startCapture(
        by device: Device, isFront: Bool, _ callNumber: Int, on engine: isolated PlazaEngine
    ) async throws(ErrorInfo) {
        let media = self.mediaEngine
        let fault = await DeviceOpening().wait(on: engine) { completion in
            switch (media, device) {
            case (let media?, .camera): media.openCamera(isFront: isFront, completion: completion)
            case (let media?, .microphone): media.openMicrophone(completion: completion)
            case (nil, _): completion(.noError)
            }
        } afterLimit: { [weak self, weak media] fault in
            // The media engine may store this closure, so the closure must not retain it. A device that was opened too
            // late is closed, unless the app has opened it again. If the app has released the client, `self` is nil,
            // and nobody has opened the device again.
            guard fault == .noError, let media, self?.isUsed(device, of: media) != true else { return }
            DeviceStore.close(device, of: media)
        }
        // A later call that has opened or closed the device decides about the device and its state.
        if self.isLast(callNumber, device) {
            self.changeState { state in
                state[keyPath: device.lastError] = fault ?? .unknownError
                if device == .camera { state.isFrontCamera = isFront }
            }
            let staysOn = fault != nil && self.state.value[keyPath: device.status] == .on
            if fault != .noError, !staysOn { await self.closeUnopened(device, on: engine) }
        }
        if fault == .noError { return }
        throw fault.map { device.error($0) } ?? device.noAnswerError
    }

    /// Closes a device that the media engine has not opened, and reports it as off if others may see it on.
    private func closeUnopened(_ device: Device, on engine: isolated PlazaEngine) async {
        // Other users may see the device as on if it was on before the call. They may also see it as on although it is
        // off here, if this call has replaced an earlier opening whose report is at the seat or under way.
        let isOn = self.state.value[keyPath: device.status] == .on
        let isOnAtSeat = self.progress.withLock { $0.seat?.isOn(device) ?? false }
        let isReported = isOn || isOnAtSeat || engine.reportingDevices.contains(device)
        // The opening of an earlier call may have succeeded meanwhile, so the device is closed.
        self.closeNow(device)
        if isReported { try? await engine.reportDevice(device, isOn: false) }
    }

    /// Whether the app has opened the device again, by the same media engine.
    private func isUsed(_ device: Device, of media: any MediaEngine) -> Bool {
        self.progress.withLock { $0.calls.isOpened(device) } && media === self.mediaEngine
    }

    /// Whether no later call has opened or closed the device.
    private func isLast(_ callNumber: Int, _ device: Device) -> Bool {
        self.progress.withLock { $0.calls.isLast(callNumber, device) }
    }

    private static func close(_ device: Device, of media: (any MediaEngine)?) {
        switch device {
        case .camera: media?.closeCamera()
        case .microphone: media?.closeMicrophone()
        }
    }

    /// Throws if a later call has opened or closed the device.
    private func throwIfReplaced(_ callNumber: Int, _ device: Device) throws(ErrorInfo) {
        guard self.isLast(callNumber, device) else {
            throw ErrorInfo(.failed, "the device was closed while it was being opened")
        }
    }

    /// Closes a device that a call has failed to open, unless a later call opens it again.
    private func closeAfterFailure(of callNumber: Int, _ device: Device) {
        let isOpenedAgain = self.progress.withLock { $0.calls.isOpenedAgain(after: callNumber, device) }
        if !isOpenedAgain { self.closeNow(device) }
    }

    /// Closes a device without a report to the seat.
    func closeNow(_ device: Device) {
        _ = self.progress.withLock { $0.calls.begin(device, opens: false) }
        Self.close(device, of: self.mediaEngine)
        self.changeState { state in
            state[keyPath: device.status] = .off
            if device == .microphone { state.currentMicVolume = 0 }
        }
    }

    private func stopScreenShareNow() {
        guard self.state.value.screenStatus == .on else { return }
        self.mediaEngine?.stopScreenShare()
        self.changeState { $0.screenStatus = .off }
    }

    /// Reports an open device to the seat, and closes the device if the server rejects the report.
    private func reportOrClose(_ device: Device) {
        guard self.state.value[keyPath: device.status] == .on,
            let callNumber = self.progress.withLock({ $0.calls.lastNumber(device) })
        else { return }
        self.runInOrder { engine, _ in
            do throws(ErrorInfo) {
                try await engine.reportDevice(device, isOn: true)
            } catch {
                self.closeAfterFailure(of: callNumber, device)
            }
        }
    }
}

extension DeviceStore: DeviceSink {
    func ownSeatChanged(to seat: OwnSeat?, reporting: Set<Device>) {
        let isScreenShared = self.state.value.screenStatus == .on
        let change = self.progress.withLock { progress in
            // A device that is still being opened must not begin to capture either.
            let devices = OpenDevices(
                isCameraOpen: progress.calls.isOpened(.camera),
                isMicrophoneOpen: progress.calls.isOpened(.microphone), isScreenShared: isScreenShared,
                isMuted: progress.isMuted, reporting: reporting)
            defer { progress.seat = seat }
            return SeatDeviceChange(from: progress.seat, to: seat, devices)
        }
        if change.closesCamera { self.closeNow(.camera) }
        if change.closesMicrophone { self.closeNow(.microphone) }
        if change.closesScreen { self.stopScreenShareNow() }
        if change.reportsCamera { self.reportOrClose(.camera) }
        if change.reportsMicrophone { self.reportOrClose(.microphone) }
    }

    func closedByHost(_ device: Device) {
        if self.progress.withLock({ $0.calls.isOpened(device) }) { self.closeNow(device) }
    }

    func closeAll() {
        let opened = self.progress.withLock { progress in
            progress.seat = nil
            return [Device.camera, .microphone].filter { progress.calls.isOpened($0) }
        }
        for device in opened { self.closeNow(device) }
        self.stopScreenShareNow()
    }

    var muteCount: Int { self.progress.withLock { $0.muteCount } }

    func muteMicrophone() {
        let isChanged = self.progress.withLock { progress in
            defer { progress.isMuted = true }
            progress.muteCount += 1
            return !progress.isMuted
        }
        if isChanged { self.mediaEngine?.setMicrophoneMuted(true) }
    }

    func unmuteMicrophone(unlessMutedSince muteCount: Int) {
        let isChanged = self.progress.withLock { progress in
            guard progress.isMuted, progress.muteCount == muteCount else { return false }
            progress.isMuted = false
            return true
        }
        if isChanged { self.mediaEngine?.setMicrophoneMuted(false) }
    }

    /// Mutes a microphone that has just been opened, if the user has muted it meanwhile.
    ///
    /// The media engine was asked to mute it before, but may forget this when it opens the microphone.
    private func muteOpenedMicrophone() {
        if self.progress.withLock({ $0.isMuted }) { self.mediaEngine?.setMicrophoneMuted(true) }
    }
}
