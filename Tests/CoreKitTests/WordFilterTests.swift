// SPDX-License-Identifier: Apache-2.0
import CoreKit
import Testing

@Suite struct WordFilterTests {
    @Test func `a word is found wherever it stands, and nothing else is`() {
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
        // A letter whose lower case is two scalars stays as it is.
        #expect(WordFilter(["İ"]).matches("İstanbul"))
        #expect(!WordFilter(["İ"]).matches("istanbul"))
    }

    @Test func `words of scripts without case are found by their letters`() {
        let filter = WordFilter(["敏感", "🎉🎉", "감사"])
        for text in ["这是敏感词", "x🎉🎉x", "정말 감사합니다"] { #expect(filter.matches(text), "\(text)") }
        for text in ["敏 感", "🎉", "감"] { #expect(!filter.matches(text), "\(text)") }
    }

    @Test func `a word that begins inside another's beginning is not missed`() {
        let filter = WordFilter(["abcd", "bc", "zzzy"])
        #expect(filter.matches("abce"))
        #expect(filter.matches("zzzzy"))
        #expect(!filter.matches("abd"))
    }

    @Test func `no words find nothing, and empty ones are none`() {
        #expect(WordFilter([]).isEmpty)
        #expect(WordFilter(["", ""]).isEmpty)
        #expect(!WordFilter([""]).matches("anything"))
        #expect(WordFilter(["", "x"]).matches("X"))
    }

    @Test(arguments: 1...30) func `the automaton finds what a search for each word finds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // Few letters, so that words overlap; of one, two, three and four bytes, in both cases.
        let letters = Array("abABäÄ敏🎉")
        func text(_ length: ClosedRange<Int>) -> String {
            String(
                (0..<Int.random(in: length, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        let words = (0..<Int.random(in: 1...12, using: &random)).map { _ in text(1...5) }
        let filter = WordFilter(words)
        for _ in 0..<300 {
            let candidate = text(0...12)
            let expected = words.contains { candidate.lowercased().contains($0.lowercased()) }
            #expect(filter.matches(candidate) == expected, "\(words) in \(candidate)")
        }
    }
}
