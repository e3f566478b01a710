// SPDX-License-Identifier: Apache-2.0
internal import Compression
internal import Foundation
package import GatewayCore

/// Finds and reads the files of the pages.
///
/// The files lie beside the programs and are no part of them: so a page can be changed without a build, and the gateway
/// of an operator who serves other pages needs none.
package enum PagesFolder {
    /// Why the pages cannot be served.
    package struct Problem: Error, Equatable {
        /// What to do.
        package let remedy: String
    }

    /// The most bytes of one file, and of all.
    private static let fileBytes = 1 << 20
    private static let totalBytes = 16 << 20
    /// The folders that are served; a folder of tests beside them is not.
    private static let folders = ["pages", "src"]

    /// The module that the pages begin with, and the file with those that it imports.
    private static let entry = "pages/main.js"
    private static let bundle = "pages/bundle.js"

    /// The folder beside the programs, as deploy/Dockerfile installs it, or of the source tree in which they were built.
    ///
    /// - Parameter program: the path of the running program.
    /// - Returns: nil if there is none.
    package static func find(program: String) -> String? {
        var directory = URL(fileURLWithPath: program).deletingLastPathComponent()
        var candidates = [
            directory.appendingPathComponent("web"), directory.appendingPathComponent("../share/liveplaza/web"),
        ]
        // A build folder is at most four levels below the top of its source tree.
        for _ in 0..<4 {
            directory = directory.deletingLastPathComponent()
            candidates.append(directory.appendingPathComponent("clients/web"))
        }
        return candidates.map { $0.standardizedFileURL.path }.first {
            FileManager.default.fileExists(atPath: $0 + "/pages/index.html")
        }
    }

    /// The path of this program's file.
    package static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// Reads all files of a folder into memory, puts the scripts together, and compresses all.
    ///
    /// - Throws: `Problem` if there are no pages, or they are too large.
    package static func read(_ folder: String) throws(Problem) -> StaticSite {
        var contents: [String: [UInt8]] = [:]
        var total = 0
        for top in Self.folders {
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/\(top)")) ?? []
            for name in names.sorted() where StaticSite.serves("\(top)/\(name)") {
                guard let data = FileManager.default.contents(atPath: "\(folder)/\(top)/\(name)") else { continue }
                total += data.count
                guard data.count <= Self.fileBytes, total <= Self.totalBytes else {
                    throw Problem(remedy: "the pages are at most 1 MiB a file and 16 MiB in all")
                }
                contents["\(top)/\(name)"] = [UInt8](data)
            }
        }
        // Bytes and requests are what a browser waits for. Pages of another shape are served as they are.
        let scripts = contents.filter { $0.key.hasSuffix(".js") }
        if let bundle = ScriptBundle(path: Self.bundle, entry: Self.entry, scripts: scripts) {
            contents.merge(bundle.files.mapValues { Array($0.utf8) }) { $1 }
        }
        var site = StaticSite()
        for (path, bytes) in contents { site.add(path, body: bytes, gzip: Gzip.compress(bytes)) }
        guard site.files.contains(where: { $0.path == "/pages/index.html" }) else {
            throw Problem(remedy: "give a folder that has pages/index.html and src")
        }
        return site
    }
}
