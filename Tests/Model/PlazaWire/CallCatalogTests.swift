// SPDX-License-Identifier: Apache-2.0
import Foundation
import PlazaModel
import PlazaWire
import Testing

/// `Golden/calls.json` has every call with all its parameters.
///
/// `Tests/Cluster/boundary_table.py` reads the file and sends boundary values to each parameter.
///
/// `LIVEPLAZA_WRITE_GOLDEN=1` rewrites the file.
@Suite struct CallCatalogTests {
    @Test func `calls.json has each call with all its parameters`() throws {
        let lines = CallTable.all.map { spec in
            #"{"method":"\#(spec.method)","params":\#(spec.params()),"role":"\#(spec.role.rawValue)"}"#
        }
        let text = "[\n" + lines.joined(separator: ",\n") + "\n]\n"
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/calls.json")
        if ProcessInfo.processInfo.environment["LIVEPLAZA_WRITE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: url)
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
        #expect(Set(CallTable.all.map(\.method)) == CallParser.methods.union(["login", "ping"]))
    }
}
