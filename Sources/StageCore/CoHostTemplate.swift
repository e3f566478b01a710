// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The layout templates of connections (reference 9, CoHostLayoutTemplate): 2 for voice; 600, 601 and 400 for video.
enum CoHostTemplate {
    /// The template of a connection that a request asks for; 0 is the one for the kind, and so is one not known.
    ///
    /// - Throws: `badParameter`, when it is for the other kind of lives or no template's number at all.
    static func resolve(_ id: Int, isVoice: Bool) throws(ReplyError) -> Int {
        let range = isVoice ? 1...199 : 200...999
        guard id == 0 || range.contains(id) else {
            throw ReplyError(
                .badParameter,
                "layoutTemplate is \(id); a \(isVoice ? "voice" : "video") live takes 0 or \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
        let kind: SeatTemplate.Kind = isVoice ? .voice : .video
        return (SeatTemplate.forConnection(id, of: kind) ?? SeatTemplate.forConnection(0, of: kind))?.id ?? 0
    }

    /// How many lives a connection of this template has room for; at most `Limits.coHostLives`.
    static func capacity(of id: Int) -> Int {
        switch SeatTemplate.resolved(id).shape {
        case .twoHosts: 2
        case .floats: 7
        case .dynamicGrid, .fixedGrid, .fixedColumn, .oneVideo, .leftFocus, .uniformGrid, .twoGroups, .rows,
            .voiceGroups:
            Limits.coHostLives
        }
    }
}
