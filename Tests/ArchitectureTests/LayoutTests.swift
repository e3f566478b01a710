// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite struct LayoutTests {
    @Test func `the sources are found`() {
        #expect(SourceTree.sources.count > 100)
        #expect(SourceTree.tests.count > 20)
        #expect(SourceTree.sources.contains { $0.path == "Sources/CoreKit/Journal.swift" })
        let sample = SourceFile(
            path: "Sources/A/B.swift",
            lines: [
                "package import PlazaModel", "@testable import CoreKit", "import struct Glibc.stat", "let import1 = 0",
            ])
        #expect(sample.imports == ["PlazaModel", "CoreKit", "Glibc"])
    }

    @Test(
        arguments: [
            ("CoreKit", []), ("PlazaModel", ["CoreKit"]), ("DirectoryCore", ["CoreKit", "PlazaModel"]),
            ("AudienceCore", ["CoreKit", "PlazaModel"]), ("BarrageCore", ["CoreKit", "PlazaModel"]),
            ("StageCore", ["CoreKit", "PlazaModel"]), ("GatewayCore", ["CoreKit", "PlazaModel"]),
        ] as [(String, Set<String>)])
    func `a core imports nothing but what is pure`(core: String, allowed: Set<String>) {
        let files = SourceTree.sources.filter { $0.target == core }
        #expect(!files.isEmpty)
        for file in files { #expect(allowed.isSuperset(of: file.imports), "\(file.path)") }
    }

    /// Each C library behind one folder.
    private static let fences: [String: [String]] = [
        "CRdkafka": ["Sources/KafkaClient/RDKafka/", "Sources/EmbeddedBroker/"],
        "CHiredis": ["Sources/RedisClient/Hiredis/"],
        "CUV": ["Sources/EventLoop/"],
        "CMicrohttpd": ["Sources/HTTPServer/"],
        "CJose": ["Sources/Tokens/"],
        "COpenSSL": ["Sources/WebSocket/", "Sources/HTTPClient/"],
        "CCurl": ["Sources/HTTPClient/"],
        "CTsan": ["Sources/Concurrency/"],
        "CSpawn": ["Sources/ChildProcess/"],
        "CZlib": ["Sources/Deflate/"],
    ]

    @Test func `a C library is imported behind its fence alone`() {
        for file in SourceTree.sources + SourceTree.tests {
            for module in file.imports {
                guard let fence = Self.fences[module] else { continue }
                #expect(fence.contains { file.path.hasPrefix($0) }, "\(file.path) imports \(module)")
            }
        }
    }

    @Test func `what the compiler cannot check stays behind the fences`() {
        let folders = Self.fences.values.flatMap { $0 }
        for file in SourceTree.sources where !folders.contains(where: { file.path.hasPrefix($0) }) {
            for (number, text) in file.code {
                let isUnchecked = text.contains("@unchecked Sendable") || text.contains("nonisolated(unsafe)")
                #expect(!isUnchecked, "\(file.path):\(number)")
            }
        }
    }

    @Test func `children are started by one target alone, for Foundation's way may crash`() {
        let own = "Tests/ArchitectureTests/LayoutTests.swift"
        for file in SourceTree.sources + SourceTree.tests where file.target != "ChildProcess" && file.path != own {
            for (number, text) in file.code {
                for word in [" Process(", "posix_spawn", "popen("] {
                    #expect(!text.contains(word), "\(file.path):\(number)")
                }
            }
        }
    }

    @Test func `a file says its licence first, and can be read in one sitting`() {
        for file in SourceTree.sources + SourceTree.tests {
            #expect(file.lines.first == "// SPDX-License-Identifier: Apache-2.0", "\(file.path)")
            #expect(file.lines.count <= 400, "\(file.path)")
        }
    }

    @Test func `nothing traps on the outside world, and nothing is left for later`() {
        for file in SourceTree.sources {
            for (number, text) in file.code {
                for word in ["try!", "fatalError(", "as!"] { #expect(!text.contains(word), "\(file.path):\(number)") }
            }
            for (number, line) in file.lines.enumerated() {
                for word in ["TODO", "FIXME"] { #expect(!line.contains(word), "\(file.path):\(number + 1)") }
            }
        }
    }

    @Test func `no thread sleeps, and no core sees a clock or chance`() {
        let threads = ["Thread.sleep", "usleep(", "nanosleep("]
        let hidden = ["Clock", ".now()", "SystemRandomNumberGenerator", "Date("]
        for file in SourceTree.sources {
            let isCore = file.target.hasSuffix("Core") || ["CoreKit", "PlazaModel"].contains(file.target)
            for (number, text) in file.code {
                // A benchmark's open loop keeps its own pace.
                if file.target != "Bench" {
                    for word in threads { #expect(!text.contains(word), "\(file.path):\(number)") }
                }
                if isCore { for word in hidden { #expect(!text.contains(word), "\(file.path):\(number)") } }
            }
        }
    }

    @Test func `tests are sentences`() {
        for file in SourceTree.tests {
            for (number, text) in file.code {
                let isNamed = text.drop { $0 == " " }.hasPrefix("@Test") && text.contains(" func ")
                #expect(!isNamed || text.contains(" func `"), "\(file.path):\(number)")
            }
            #expect(!file.imports.contains("XCTest"), "\(file.path)")
        }
    }
}
