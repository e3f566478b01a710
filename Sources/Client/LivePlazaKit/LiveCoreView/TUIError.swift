// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
/// The codes of client errors that apps of this family know by name; PROTOCOL.md, section 13, explains those of the
/// server.
public enum TUIError: Int, Sendable {
    /// The call has succeeded.
    case success = 0
    /// The call failed for a reason without a code of its own.
    case failed = -1
    /// Too many calls in too short a time.
    case freqLimit = -2
    /// The call is being made already.
    case repeatOperation = -3
    /// The call is about another live than the user's.
    case roomMismatch = -4
    /// The app is unknown.
    case sdkAppIDNotFound = -1000
    /// A parameter is missing or wrong.
    case invalidParameter = -1001
    /// Nobody is logged in.
    case sdkNotInitialized = -1002
    /// The system or the server does not permit the call.
    case permissionDenied = -1003
    /// The camera does not start.
    case cameraStartFailed = -1100
    /// The system does not permit the app to use the camera.
    case cameraNotAuthorized = -1101
    /// Another app uses the camera.
    case cameraOccupied = -1102
    /// There is no camera.
    case cameraDeviceEmpty = -1103
    /// The microphone does not start.
    case microphoneStartFailed = -1104
    /// The system does not permit the app to use the microphone.
    case microphoneNotAuthorized = -1105
    /// Another app uses the microphone.
    case microphoneOccupied = -1106
    /// There is no microphone.
    case microphoneDeviceEmpty = -1107
    /// The live to enter does not exist.
    case roomIdNotExist = -2100
    /// The user is in no live.
    case operationInvalidBeforeEnterRoom = -2101
    /// The owner ends a live instead of leaving it.
    case exitNotSupportedForRoomOwner = -2102
    /// The live's id is not valid.
    case roomIdInvalid = -2105
    /// The live's name is not valid.
    case roomNameInvalid = -2107
    /// The user is in another live.
    case alreadyInOtherRoom = -2108
    /// There is no such user.
    case userNotExist = -2200
    /// Only the owner may do this.
    case needOwnerPermission = -2300
    /// Only the owner and the admins may do this.
    case needAdminPermission = -2301
    /// The user may not make a request of this kind; never given, because `noPermission` (100006) says it.
    case requestNoPermission = -2310
    /// The request does not exist, or has ended.
    case requestIdInvalid = -2311
    /// The request was made already.
    case requestIdRepeat = -2312
    /// The live has no further seats.
    case maxSeatCountLimit = -2340
    /// There is no seat of this number.
    case seatIndexNotExist = -2344
    /// The microphone of the seat must be unlocked first.
    case openMicrophoneNeedSeatUnlock = -2360
    /// A host must permit the microphone first.
    case openMicrophoneNeedPermissionFromAdmin = -2361
    /// The camera of the seat must be unlocked first.
    case openCameraNeedSeatUnlock = -2370
    /// A host must permit the camera first.
    case openCameraNeedPermissionFromAdmin = -2371
    /// The seat must be unlocked before the screen is shared.
    case openScreenShareNeedSeatUnlock = -2372
    /// A host must permit sharing the screen first.
    case openScreenShareNeedPermissionFromAdmin = -2373
    /// Nobody may send messages in this live.
    case sendMessageDisabledForAll = -2380
    /// The user may not send messages in this live.
    case sendMessageDisabledForCurrent = -2381
}
#endif
