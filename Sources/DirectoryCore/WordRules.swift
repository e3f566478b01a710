// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// The word filter for what all of an app's users see in lists (reference 3.1, sensitive text).
extension DirectoryMachine {
    /// Refuses a name or a notice with a word that the app does not want.
    ///
    /// - Throws: `sensitiveWords`, which does not name the word.
    func checkWords(_ changes: LiveChanges, _ app: AppID) throws(ReplyError) {
        let words = self.apps[app].words
        guard !words.isEmpty else { return }
        for (text, field) in [(changes.liveName, "liveName"), (changes.notice, "notice")] {
            guard let text, !text.isEmpty, WordRules.hits(text, words) else { continue }
            throw ReplyError(.sensitiveWords, "\(field) has a word that the app does not allow")
        }
    }
}

/// How texts are compared with words: as messages are, by `WordFilter`.
enum WordRules {
    /// Whether `text` contains one of `words`, whatever their case.
    static func hits(_ text: String, _ words: [String]) -> Bool {
        let text = WordFilter.folded(text)
        return words.contains { self.contains(text, WordFilter.folded($0)) }
    }

    private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        guard !word.isEmpty, word.count <= text.count else { return false }
        return (0...(text.count - word.count)).contains { text[$0...].starts(with: word) }
    }
}
