// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The layout templates of connections (R9.8): template 2 for voice; templates 600, 601 and 400 for video.
enum CoHostTemplate {
    /// The id of the layout template that a connection gets when a request names the template `id`.
    ///
    /// Voice lives have one range of ids, video lives another. 0, and an id within the range that no template has, mean
    /// the default template.
    ///
    /// - Throws: `badParameter` when the id is not 0 and is outside the range.
    static func resolve(_ id: Int, isVoice: Bool) throws(ReplyError) -> Int {
        let range = isVoice ? SeatTemplate.voiceIDs : SeatTemplate.videoIDs
        guard id == 0 || range.contains(id) else {
            throw ReplyError(
                .badParameter,
                "layoutTemplate is \(id); 0 or \(range.lowerBound) to \(range.upperBound) are possible in a "
                    + "\(isVoice ? "voice" : "video") live")
        }
        let kind: SeatTemplate.Kind = isVoice ? .voice : .video
        // `?? 0` is not reached: each kind has a default template, which `forConnection(0, of: kind)` returns.
        return (SeatTemplate.forConnection(id, of: kind) ?? SeatTemplate.forConnection(0, of: kind))?.id ?? 0
    }

    /// How many lives the template has space for; at most `Limits.coHostLives`.
    static func capacity(of id: Int) -> Int {
        switch SeatTemplate.resolved(id).shape {
        case .twoHosts: 2
        // One full-screen frame and six small frames.
        case .floats: 7
        case .dynamicGrid, .fixedGrid, .fixedColumn, .oneVideo, .leftFocus, .uniformGrid, .twoGroups, .rows,
            .voiceGroups:
            Limits.coHostLives
        }
    }
}
