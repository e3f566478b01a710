// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

/// The search for an app's forbidden words in a text.
@Suite struct WordFilterTests {
    /// Whether a text contains one of the words, by a search that compares each word at each position of the text.
    ///
    /// This search folds the case of letters as the filter does.
    private static func text(_ text: String, containsOneOf words: [String]) -> Bool {
        let text = WordFilter.folded(text)
        return words.contains { word in
            let word = WordFilter.folded(word)
            guard !word.isEmpty, word.count <= text.count else { return false }
            return (0...(text.count - word.count)).contains { text[$0...].starts(with: word) }
        }
    }

    @Test func `a text with a word anywhere in it matches, and other texts do not`() {
        let filter = WordFilter(["he", "she", "hers", "his", "rose garden"])
        for text in ["he", "ushers", "this", "a rose garden!", "HErs"] { #expect(filter.matches(text), "\(text)") }
        for text in ["", "h", "hi", "rose  garden", "rose gardem", "s h e"] {
            #expect(!filter.matches(text), "\(text)")
        }
    }

    @Test func `the case of letters does not matter, in ASCII and beyond`() {
        let filter = WordFilter(["VerBoten", "Ärger", "ΣΊΣΥΦΟΣ", "Привет", "ＡＢＣ"])
        for text in ["verboten", "VERBOTEN!", "ärger", "ÄRGER", "σίσυφος", "σίσυφοσ", "ПРИВЕТ", "ａｂｃ"] {
            #expect(filter.matches(text), "\(text)")
        }
        for text in ["verbot", "arger", "привe"] { #expect(!filter.matches(text), "\(text)") }
        // The lower case of this letter is two scalars; such a letter is not folded.
        #expect(WordFilter(["İ"]).matches("İstanbul"))
        #expect(!WordFilter(["İ"]).matches("istanbul"))
    }

    @Test func `words of scripts without upper and lower case are found`() {
        let filter = WordFilter(["敏感", "🎉🎉", "감사"])
        for text in ["这是敏感词", "x🎉🎉x", "정말 감사합니다"] { #expect(filter.matches(text), "\(text)") }
        for text in ["敏 感", "🎉", "감"] { #expect(!filter.matches(text), "\(text)") }
    }

    @Test func `a word that begins inside a partial match of another word is found`() {
        // In "abce", the search has matched "abc" of "abcd" when it must find "bc".
        let filter = WordFilter(["abcd", "bc", "zzzy"])
        #expect(filter.matches("abce"))
        #expect(filter.matches("zzzzy"))
        #expect(!filter.matches("abd"))
    }

    @Test func `an empty list finds nothing, and empty words are ignored`() {
        #expect(WordFilter([]).isEmpty)
        #expect(WordFilter(["", ""]).isEmpty)
        #expect(!WordFilter([""]).matches("anything"))
        #expect(WordFilter(["", "x"]).matches("X"))
    }

    @Test(arguments: 1...30) func `the filter finds what a search for each word finds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // The letters are few, so that words overlap. Their encodings have one to four bytes, and some letters have
        // both cases.
        let letters = Array("abABäÄ敏🎉")
        func randomText(_ lengths: ClosedRange<Int>) -> String {
            let length = Int.random(in: lengths, using: &random)
            return String((0..<length).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        let words = (0..<Int.random(in: 1...12, using: &random)).map { _ in randomText(1...5) }
        let filter = WordFilter(words)
        for _ in 0..<300 {
            let candidate = randomText(0...12)
            let expected = words.contains { candidate.lowercased().contains($0.lowercased()) }
            #expect(filter.matches(candidate) == expected, "\(words) in \(candidate)")
            #expect(
                filter.matches(candidate) == Self.text(candidate, containsOneOf: words), "\(words) in \(candidate)")
        }
    }
}

/// A filter that is compiled again only when its words differ.
@Suite struct CompiledWordFilterTests {
    @Test func `a filter is compiled again only if its words differ, by their bytes`() {
        var compiled = CompiledWordFilter(["bad", "é"])
        let isCompiledForSameWords = compiled.update(["bad", "é"])
        #expect(!isCompiledForSameWords)
        #expect(compiled.filter.matches("BAD") && compiled.filter.matches("É"))
        // Swift's strings compare the composed and the decomposed letter as equal; the filter does not.
        let isCompiledForDecomposedLetter = compiled.update(["bad", "e\u{301}"])
        #expect(isCompiledForDecomposedLetter)
        #expect(!compiled.filter.matches("é") && compiled.filter.matches("e\u{301}"))
        let isCompiledForFewerWords = compiled.update(["bad"])
        #expect(isCompiledForFewerWords)
        let isCompiledAgain = compiled.update(["bad"])
        #expect(!isCompiledAgain)
        let isCompiledForNoWords = compiled.update([])
        #expect(isCompiledForNoWords)
        #expect(compiled.filter.isEmpty)
    }
}
