// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The measurements of a media engine for one user.
public struct AVStatistics: Sendable, Hashable {
    /// The user.
    public var userID: String
    /// The bit rate of the video in kbit/s.
    public var videoBitrate: UInt
    /// The width of the video in pixels.
    public var videoWidth: CGFloat
    /// The height of the video in pixels.
    public var videoHeight: CGFloat
    /// The number of frames per second.
    public var frameRate: UInt
    /// The sample rate of the sound in Hz.
    public var audioSampleRate: UInt
    /// The bit rate of the sound in kbit/s.
    public var audioBitrate: UInt

    /// Makes the measurements of a user.
    public init(
        userID: String = "", videoBitrate: UInt = 0, videoWidth: CGFloat = 0, videoHeight: CGFloat = 0,
        frameRate: UInt = 0, audioSampleRate: UInt = 0, audioBitrate: UInt = 0
    ) {
        self.userID = userID
        self.videoBitrate = videoBitrate
        self.videoWidth = videoWidth
        self.videoHeight = videoHeight
        self.frameRate = frameRate
        self.audioSampleRate = audioSampleRate
        self.audioBitrate = audioBitrate
    }
}
