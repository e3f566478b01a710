// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The word filter for lives' names and notices, which all users of an app see in lists (R3.12).
extension DirectoryMachine {
    /// Rejects a name or a notice that contains a filtered word of the app.
    ///
    /// - Throws: `sensitiveWords`; its message does not contain the word.
    func checkFilteredWords(_ changes: LiveChanges, _ app: AppID) throws(ReplyError) {
        guard let filter = self.filters[app] else { return }
        for (text, field) in [(changes.liveName, "liveName"), (changes.notice, "notice")] {
            guard let text, filter.matches(text) else { continue }
            throw ReplyError(.sensitiveWords, "\(field) contains a word that the app does not allow")
        }
    }
}

/// The word filters of all apps; a filter is built when the words of its app change.
struct WordFilterTable: Sendable {
    private struct Entry: Sendable {
        /// The revision of the settings that the filter is for.
        var revision: Int64
        var compiled = CompiledWordFilter()
    }

    private var entries: [AppID: Entry] = [:]

    /// The filter of `app`; nil if the app has no settings.
    subscript(app: AppID) -> WordFilter? { self.entries[app]?.compiled.filter }

    /// Builds the filters of the apps whose words have changed.
    mutating func update(from table: AppTable) {
        for app in table.apps {
            let revision = table.revision(of: app)
            if self.entries[app]?.revision == revision { continue }
            var entry = self.entries[app] ?? Entry(revision: revision)
            entry.revision = revision
            entry.compiled.update(table[app].words)
            self.entries[app] = entry
        }
    }
}
