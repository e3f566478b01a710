// SPDX-License-Identifier: Apache-2.0

/// An Aho-Corasick automaton that checks whether a text contains one of many words, ignoring case.
///
/// It is built once for a list of words. Each text is then read only once, however many words there are. Words are also
/// found inside longer words. Case is folded where Unicode maps one scalar to one scalar: `É` equals `é`, and `Σ` and
/// `ς` equal `σ`. Composed and decomposed letters are different.
package struct WordFilter: Sendable {
    /// For each state the index of its first edge; one more element at the end is the number of all edges.
    private var edgeStarts: [Int32] = [0, 0]
    /// The bytes of the edges, in ascending order within a state.
    private var edgeBytes: [UInt8] = []
    /// For each edge the state to which it leads.
    private var edgeTargets: [Int32] = []
    /// For each state the fallback state: its longest proper suffix that is also a prefix of a word.
    private var fallbacks: [Int32] = [0]
    /// For each state whether a word ends in it.
    private var isEnd: [Bool] = [false]
    /// For each byte, of either case, the state that follows the root; 0 is the root itself.
    ///
    /// This table exists because most bytes of a text are read in the root state.
    private var rootTargets = [Int32](repeating: 0, count: 256)

    /// Builds a filter for `words`; empty words are left out.
    package init(_ words: [String]) {
        let foldedWords = Set(words.map { word in Self.folded(word) }).filter { !$0.isEmpty }
            .sorted { $0.lexicographicallyPrecedes($1) }
        guard !foldedWords.isEmpty else { return }
        var trie = Trie()
        for foldedWord in foldedWords { trie.insert(foldedWord) }
        self.build(from: trie)
    }

    /// Whether there is no word to find.
    package var isEmpty: Bool { self.edgeBytes.isEmpty }

    /// Whether `text` contains one of the words.
    package func matches(_ text: String) -> Bool {
        if self.isEmpty { return false }
        return text.withUTF8Bytes { bytes in
            let rootTargets = self.rootTargets.span
            var state: Int32 = 0
            for index in bytes.indices {
                let byte = bytes[index]
                // Case is folded by whole scalars, so the slower search continues at the first byte that is not ASCII.
                if byte >= 0x80 { return self.matches(text.unicodeScalars, after: index, state) }
                state = state == 0 ? rootTargets[Int(byte)] : self.next(state, Self.folded(byte))
                if state != 0, self.isEnd[Int(state)] { return true }
            }
            return false
        }
    }

    /// Continues a search that reached `state` after `count` scalars, all of them ASCII.
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
            // A word can end only at the end of a scalar.
            if self.isEnd[Int(state)] { return true }
        }
        return false
    }

    /// The state that follows `state` after a folded byte.
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

    /// Stores the nodes of `trie` as states in the order of their depth, and links each state to its fallback state.
    private mutating func build(from trie: Trie) {
        // The nodes of the trie in order of depth: the state of a node is its index in this list.
        var order = [0]
        var stateOfNode = [Int32](repeating: 0, count: trie.nodes.count)
        self.fallbacks = []
        self.isEnd = []
        self.edgeStarts = [0]
        var state = 0
        while state < order.count {
            let node = trie.nodes[order[state]]
            for (byte, child) in node.children {
                stateOfNode[child] = Int32(order.count)
                order.append(child)
                self.edgeBytes.append(byte)
                self.edgeTargets.append(stateOfNode[child])
                if state == 0 {
                    self.rootTargets[Int(byte)] = stateOfNode[child]
                    self.rootTargets[Int(Self.uppercased(byte))] = stateOfNode[child]
                }
            }
            self.edgeStarts.append(Int32(self.edgeBytes.count))
            self.isEnd.append(node.isEnd)
            self.fallbacks.append(0)
            state += 1
        }
        // States are in order of depth. So when a state links its children, the fallbacks of all smaller depths exist.
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

    /// The case-folded bytes of a text, the same for all texts that the filter treats as equal.
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

    /// The upper-case form of a folded byte; the byte itself if there is none.
    private static func uppercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        // East Asian scripts and emoji have no case, so the look-up can be skipped.
        case 0x2E80...0xA63F, 0xAC00...0xD7FF, 0x1F000...: return scalar
        // The final sigma `ς` is a lower-case letter, so its mapping would not make it equal to `σ`.
        case 0x3C2: return "σ"
        default:
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            return lower.count == 1 ? lower.first ?? scalar : scalar
        }
    }

    /// The words as a tree of bytes.
    ///
    /// Words are inserted in sorted order, so the children of a node are in the order of their bytes.
    private struct Trie {
        struct Node {
            var children: [(byte: UInt8, node: Int)] = []
            var isEnd = false
        }
        var nodes = [Node()]

        mutating func insert(_ bytes: [UInt8]) {
            var node = 0
            for byte in bytes {
                if let last = self.nodes[node].children.last, last.byte == byte {
                    node = last.node
                } else {
                    self.nodes[node].children.append((byte, self.nodes.count))
                    node = self.nodes.count
                    self.nodes.append(Node())
                }
            }
            self.nodes[node].isEnd = true
        }
    }
}
