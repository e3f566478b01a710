// SPDX-License-Identifier: Apache-2.0

/// The words of a `WordFilter` as a tree of bytes.
///
/// Words are inserted in sorted order, so the children of a node are in the order of their bytes.
struct WordTree {
    struct Node {
        /// The next bytes of words, each with the index of its node in `nodes`.
        var children: [(byte: UInt8, node: Int)] = []
        /// Whether a word ends at this node.
        var isEnd = false
    }
    /// All nodes; the first one is the root.
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
