// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The layout templates of connections (reference 9, CoHostLayoutTemplate).
enum CoHostTemplate {
    /// `hostVoiceConnection`: six seats of each live.
    static let voice = 2
    /// `hostDynamicGrid`.
    static let grid = 600
    /// `hostDynamic1v6`: one large, six small.
    static let oneAndSix = 601
    /// `HostVideoLandscapeFixed2Seats`: two hosts.
    static let twoHosts = 400

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
        if isVoice { return Self.voice }
        return [Self.twoHosts, Self.oneAndSix].contains(id) ? id : Self.grid
    }

    /// How many lives a connection of this template takes; at most `Limits.coHostLives`.
    static func capacity(of id: Int) -> Int {
        switch id {
        case Self.twoHosts: 2
        case Self.oneAndSix: 7
        default: Limits.coHostLives
        }
    }
}
