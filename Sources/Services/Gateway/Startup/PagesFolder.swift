// SPDX-License-Identifier: Apache-2.0
internal import Compression
internal import Foundation
package import GatewayCore

/// Finds and reads the files of the browser pages.
///
/// The files are in a folder next to the programs, and not in the programs themselves. So a page can be changed without
/// a build, and an operator can serve other pages.
package enum PagesFolder {
    /// The reason why the pages cannot be served.
    package struct Problem: Error, Equatable {
        /// The remedy, as a sentence.
        package let remedy: String
    }

    /// The largest size of one file: 1 MiB.
    private static let maxFileBytes = 1 << 20
    /// The largest size of all files together: 16 MiB.
    private static let maxTotalBytes = 16 << 20
    /// The folders whose files are served; other folders next to them, such as the tests, are not served.
    private static let servedFolders = ["pages", "src"]

    /// The path of the module that the pages load first.
    private static let entryPath = "pages/main.js"
    /// The path of the bundle, which contains the modules that the entry imports.
    private static let bundlePath = "pages/bundle.js"

    /// Returns the folder of the pages.
    ///
    /// It is `web` in the folder of the programs, or `../share/liveplaza/web`, where deploy/Dockerfile installs the
    /// pages, or `clients/web` in the source tree in which the programs were built.
    ///
    /// - Parameter program: The path of the running program.
    /// - Returns: Nil if there is no such folder.
    package static func find(program: String) -> String? {
        var directory = URL(fileURLWithPath: program).deletingLastPathComponent()
        var candidates = [
            directory.appendingPathComponent("web"), directory.appendingPathComponent("../share/liveplaza/web"),
        ]
        // A folder of built programs is at most four levels below the top of its source tree.
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

    /// Reads the files of a folder into memory, bundles the scripts, and compresses all files.
    ///
    /// - Throws: `Problem` if there are no pages, or they are too large.
    package static func read(_ folder: String) throws(Problem) -> StaticSite {
        var contents: [String: [UInt8]] = [:]
        var totalBytes = 0
        for servedFolder in Self.servedFolders {
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/\(servedFolder)")) ?? []
            for name in names.sorted() where StaticSite.canContain(fileAt: "\(servedFolder)/\(name)") {
                // A path that cannot be read is not served. It may be a folder whose name ends like a file's.
                guard let data = FileManager.default.contents(atPath: "\(folder)/\(servedFolder)/\(name)") else {
                    continue
                }
                totalBytes += data.count
                guard data.count <= Self.maxFileBytes, totalBytes <= Self.maxTotalBytes else {
                    throw Problem(remedy: "keep each file of the pages within 1 MiB, and all files within 16 MiB")
                }
                contents["\(servedFolder)/\(name)"] = [UInt8](data)
            }
        }
        // The scripts are bundled, because a page of many small scripts loads slowly. Scripts that cannot be bundled
        // are served unchanged.
        let scripts = contents.filter { $0.key.hasSuffix(".js") }
        if let bundle = ScriptBundle(path: Self.bundlePath, entry: Self.entryPath, scripts: scripts) {
            contents.merge(bundle.files.mapValues { Array($0.utf8) }) { _, bundled in bundled }
        }
        var site = StaticSite()
        for (path, bytes) in contents { site.add(path, body: bytes, gzip: Gzip.compress(bytes)) }
        guard site.files.contains(where: { $0.path == "/pages/index.html" }) else {
            throw Problem(remedy: "give a folder that has pages/index.html and src")
        }
        return site
    }
}
