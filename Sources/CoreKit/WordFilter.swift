// SPDX-License-Identifier: Apache-2.0

/// Finds out whether a text contains one of many words, whatever their case: an Aho-Corasick automaton.
///
/// Made once for a list of words; a text is then read once, however many words there are. Words are found inside longer
/// ones too. Letters of one case are taken for those of the other where Unicode maps one scalar to one scalar, so `É`
/// is `é`, and `Σ` and `ς` are `σ`; composed and decomposed letters are not taken for each other.
package struct WordFilter: Sendable {
    /// For each state, where its edges begin; one more at the end.
    private var edgeStarts: [Int32] = [0, 0]
    /// The bytes of the edges, rising within a state.
    private var edgeBytes: [UInt8] = []
    private var edgeTargets: [Int32] = []
    /// The state of the longest proper suffix that is the beginning of a word.
    private var fallbacks: [Int32] = [0]
    /// Whether a word ends in the state.
    private var isEnd: [Bool] = [false]
    /// The edges of the first state, where most of a text is read, for bytes of either case: 0 leads back to it.
    private var rootTargets = [Int32](repeating: 0, count: 256)

    /// A filter for `words`; empty ones are left out.
    package init(_ words: [String]) {
        let spellings = Set(words.map { word in Self.folded(word) }).filter { !$0.isEmpty }
            .sorted { $0.lexicographicallyPrecedes($1) }
        guard !spellings.isEmpty else { return }
        var trie = Trie()
        for spelling in spellings { trie.insert(spelling) }
        self.take(trie)
    }

    /// Whether there is no word to find.
    package var isEmpty: Bool { self.edgeBytes.isEmpty }

    /// Whether `text` contains one of the words.
    package func matches(_ text: String) -> Bool {
        if self.isEmpty { return false }
        let bytes = text.utf8.span
        let roots = self.rootTargets.span
        var state: Int32 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            // From the first byte on that is not ASCII, whole scalars are to be folded.
            if byte >= 0x80 { return self.matches(text.unicodeScalars, after: index, state) }
            state = state == 0 ? roots[Int(byte)] : self.next(state, Self.folded(byte))
            if state != 0, self.isEnd[Int(state)] { return true }
        }
        return false
    }

    /// Whether a text contains one of the words, of which `count` scalars, all ASCII, have led to `state`.
    private func matches(_ scalars: String.UnicodeScalarView, after count: Int, _ state: Int32) -> Bool {
        var state = state
        for scalar in scalars.dropFirst(count) {
            if scalar.value < 0x80 {
                state = self.next(state, Self.folded(UInt8(truncatingIfNeeded: scalar.value)))
            } else {
                for byte in UTF8.encode(Self.folded(scalar)) ?? UTF8.encodedReplacementCharacter {
                    state = self.next(state, byte)
                }
            }
            // A word ends where a scalar does.
            if self.isEnd[Int(state)] { return true }
        }
        return false
    }

    private func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        var state = state
        while state != 0 {
            let edges = Int(self.edgeStarts[Int(state)])..<Int(self.edgeStarts[Int(state) + 1])
            let edge = edges.partitioningIndex { self.edgeBytes[$0] >= byte }
            if edge < edges.upperBound, self.edgeBytes[edge] == byte { return self.edgeTargets[edge] }
            state = self.fallbacks[Int(state)]
        }
        return self.rootTargets[Int(byte)]
    }

    /// Lays the trie's states out in the order of their depth, and links each to its longest suffix.
    private mutating func take(_ trie: Trie) {
        var order = [0]
        var places = [Int32](repeating: 0, count: trie.nodes.count)
        self.fallbacks = []
        self.isEnd = []
        self.edgeStarts = [0]
        var next = 0
        while next < order.count {
            let node = trie.nodes[order[next]]
            for (byte, child) in node.children {
                places[child] = Int32(order.count)
                order.append(child)
                self.edgeBytes.append(byte)
                self.edgeTargets.append(places[child])
                if next == 0 {
                    self.rootTargets[Int(byte)] = places[child]
                    self.rootTargets[Int(Self.raised(byte))] = places[child]
                }
            }
            self.edgeStarts.append(Int32(self.edgeBytes.count))
            self.isEnd.append(node.isEnd)
            self.fallbacks.append(0)
            next += 1
        }
        // Those less deep are linked already, and have taken over the ends of their own suffixes.
        for state in order.indices {
            for edge in Int(self.edgeStarts[state])..<Int(self.edgeStarts[state + 1]) {
                let child = Int(self.edgeTargets[edge])
                if state != 0 {
                    self.fallbacks[child] = self.next(self.fallbacks[state], self.edgeBytes[edge])
                    if self.isEnd[Int(self.fallbacks[child])] { self.isEnd[child] = true }
                }
            }
        }
    }

    // MARK: - Case

    /// A text as it is compared: alike for all that a filter takes for the same.
    package static func folded(_ word: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in word.unicodeScalars {
            if scalar.value < 0x80 {
                bytes.append(self.folded(UInt8(truncatingIfNeeded: scalar.value)))
            } else {
                bytes += UTF8.encode(self.folded(scalar)) ?? UTF8.encodedReplacementCharacter
            }
        }
        return bytes
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The byte that `folded` makes `byte` of, and another than it if there is one.
    private static func raised(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        // The scripts of East Asia have no case: no need to ask.
        case 0x2E80...0xA63F, 0xAC00...0xD7FF, 0x1F000...: return scalar
        case 0x3C2: return "σ"
        default:
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            return lower.count == 1 ? lower.first ?? scalar : scalar
        }
    }

    /// The words as a tree of bytes; made of words in their order, so children come in the order of their bytes.
    private struct Trie {
        struct Node {
            var children: [(byte: UInt8, node: Int)] = []
            var isEnd = false
        }
        var nodes = [Node()]

        mutating func insert(_ bytes: [UInt8]) {
            var place = 0
            for byte in bytes {
                if let last = self.nodes[place].children.last, last.byte == byte {
                    place = last.node
                } else {
                    self.nodes[place].children.append((byte, self.nodes.count))
                    place = self.nodes.count
                    self.nodes.append(Node())
                }
            }
            self.nodes[place].isEnd = true
        }
    }
}
