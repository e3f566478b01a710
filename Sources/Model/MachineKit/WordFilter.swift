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
    /// For each state its fallback state.
    ///
    /// A state stands for the bytes that lead to it from the root, which are a prefix of a word. The fallback state
    /// stands for the longest proper suffix of these bytes that is a prefix of a word, too.
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
        var tree = WordTree()
        for foldedWord in foldedWords { tree.insert(foldedWord) }
        self.addStates(of: tree)
        self.linkFallbacks()
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
                if byte >= 0x80 { return self.matches(text.unicodeScalars, after: index, in: state) }
                state = state == 0 ? rootTargets[Int(byte)] : self.next(state, Self.folded(byte))
                if state != 0, self.isEnd[Int(state)] { return true }
            }
            return false
        }
    }

    /// Continues a search that is in `state` after `count` scalars, all of them ASCII.
    private func matches(_ scalars: String.UnicodeScalarView, after count: Int, in state: Int32) -> Bool {
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

    /// Stores the nodes of the tree as states in the order of their depth.
    private mutating func addStates(of tree: WordTree) {
        // The index of each node in the tree, in the order of depth; the state of a node is its index in this list.
        var order = [0]
        self.fallbacks = []
        self.isEnd = []
        self.edgeStarts = [0]
        var state = 0
        while state < order.count {
            let node = tree.nodes[order[state]]
            for (byte, child) in node.children {
                let target = Int32(order.count)
                order.append(child)
                self.edgeBytes.append(byte)
                self.edgeTargets.append(target)
                if state == 0 {
                    self.rootTargets[Int(byte)] = target
                    self.rootTargets[Int(Self.uppercased(byte))] = target
                }
            }
            self.edgeStarts.append(Int32(self.edgeBytes.count))
            self.isEnd.append(node.isEnd)
            self.fallbacks.append(0)
            state += 1
        }
    }

    /// Links each state to its fallback state, and marks the states in which a shorter word ends.
    private mutating func linkFallbacks() {
        // States are in order of depth. So when a state links its children, the fallbacks of all smaller depths exist.
        // The children of the root fall back to the root.
        for state in self.isEnd.indices.dropFirst() {
            for edge in Int(self.edgeStarts[state])..<Int(self.edgeStarts[state + 1]) {
                let child = Int(self.edgeTargets[edge])
                self.fallbacks[child] = self.next(self.fallbacks[state], self.edgeBytes[edge])
                if self.isEnd[Int(self.fallbacks[child])] { self.isEnd[child] = true }
            }
        }
    }
}
