// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The layout templates of connections (R9.8): 2 for voice; 600, 601 and 400 for video.
enum CoHostTemplate {
    /// The layout template for the number that a request names.
    ///
    /// 0 and unknown numbers mean the default template of voice or video lives.
    ///
    /// - Throws: `badParameter` when the number is outside the range for voice or video lives.
    static func resolve(_ id: Int, isVoice: Bool) throws(ReplyError) -> Int {
        let range = isVoice ? SeatTemplate.voiceIDs : SeatTemplate.videoIDs
        guard id == 0 || range.contains(id) else {
            throw ReplyError(
                .badParameter,
                "layoutTemplate is \(id); 0 or \(range.lowerBound) to \(range.upperBound) are possible in a "
                    + "\(isVoice ? "voice" : "video") live")
        }
        let kind: SeatTemplate.Kind = isVoice ? .voice : .video
        return (SeatTemplate.forConnection(id, of: kind) ?? SeatTemplate.forConnection(0, of: kind))?.id ?? 0
    }

    /// How many lives the template has space for; at most `Limits.coHostLives`.
    static func capacity(of id: Int) -> Int {
        switch SeatTemplate.resolved(id).shape {
        case .twoHosts: 2
        // One full-screen frame and six small ones.
        case .floats: 7
        case .dynamicGrid, .fixedGrid, .fixedColumn, .oneVideo, .leftFocus, .uniformGrid, .twoGroups, .rows,
            .voiceGroups:
            Limits.coHostLives
        }
    }
}
