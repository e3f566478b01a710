// SPDX-License-Identifier: Apache-2.0
import Repository
import Testing

/// Rules for the sources: what may be imported where, and which calls may not be used.
@Suite struct LayoutTests {
    /// This file, which is not searched for the calls that it names as forbidden.
    private static let thisFile = "Tests/Architecture/LayoutTests.swift"

    @Test func `the reader of the sources finds all files, their imports and their targets`() {
        #expect(SourceTree.sources.count > 100, "most sources were not found")
        #expect(SourceTree.tests.count > 20, "most tests were not found")
        #expect(SourceTree.sources.contains { $0.path == "Sources/Model/MachineKit/Journal.swift" })
        let sample = SourceFile(
            path: "Sources/Tools/Bench/B.swift",
            lines: [
                "package import PlazaModel", "@testable import MachineKit", "import struct Glibc.stat",
                "let import1 = 0",
            ])
        // The constant `import1` is not an import.
        #expect(sample.imports == ["PlazaModel", "MachineKit", "Glibc"])
        #expect(sample.target == "Bench")
        // `deploy/fuzz.sh` compiles the entry point of the fuzz targets, which does not belong to a target.
        for file in SourceTree.sources + SourceTree.tests where !file.path.hasPrefix("Tests/Fuzz/Entry/") {
            #expect(!file.target.isEmpty, "\(file.path)")
        }
    }

    @Test(
        arguments: [
            ("MachineKit", []), ("PlazaModel", ["MachineKit"]), ("DirectoryCore", ["MachineKit", "PlazaModel"]),
            ("AudienceCore", ["MachineKit", "PlazaModel"]), ("BarrageCore", ["MachineKit", "PlazaModel"]),
            ("StageCore", ["MachineKit", "PlazaModel"]), ("GatewayCore", ["MachineKit", "PlazaModel"]),
        ] as [(String, Set<String>)])
    func `a core, which decides without I/O, imports only pure modules`(core: String, allowed: Set<String>) {
        let files = SourceTree.sources.filter { $0.target == core }
        #expect(!files.isEmpty, "\(core) has no sources")
        for file in files { #expect(allowed.isSuperset(of: file.imports), "\(file.path)") }
    }

    /// The core of the SDK: a folder of its target, because apps import the SDK as one module.
    private static let coreOfSDK = "Sources/Client/LivePlazaKit/Core/"

    @Test func `the core of the SDK, which decides without I/O, imports only modules without I/O`() {
        let files = SourceTree.sources.filter { $0.path.hasPrefix(Self.coreOfSDK) }
        #expect(!files.isEmpty)
        let allowed: Set = ["MachineKit", "PlazaModel", "PlazaWire"]
        for file in files { #expect(allowed.isSuperset(of: file.imports), "\(file.path)") }
    }

    /// The folders that may import each C library.
    private static let foldersOfCLibraries: [String: [String]] = [
        "CRdkafka": ["Sources/Platform/Kafka/Client/RDKafka/", "Sources/Platform/Kafka/EmbeddedBroker/"],
        "CHiredis": ["Sources/Platform/Redis/Hiredis/"],
        "CUV": ["Sources/Platform/EventLoop/"],
        "CMicrohttpd": ["Sources/Platform/HTTP/Server/"],
        "CJose": ["Sources/Platform/Tokens/"],
        "COpenSSL": ["Sources/Platform/TLS/", "Sources/Platform/WebSocket/", "Sources/Platform/HTTP/Client/"],
        "CCurl": ["Sources/Platform/HTTP/Client/"],
        "CThread": ["Sources/Platform/Concurrency/"],
        "CSpawn": ["Sources/Platform/Process/"],
        "CZlib": ["Sources/Platform/Compression/"],
    ]

    @Test func `a C library is imported only in the folders that wrap it`() {
        for file in SourceTree.sources + SourceTree.tests {
            for module in file.imports {
                guard let folders = Self.foldersOfCLibraries[module] else { continue }
                #expect(folders.contains { file.path.hasPrefix($0) }, "\(file.path) imports \(module)")
            }
        }
    }

    @Test func `unchecked concurrency appears only in the folders that allow it`() {
        // In Combine's interface, subjects and the closures of schedulers cross threads without being checked.
        let combineFolders = ["Subjects/", "Internals/LockedValue.swift"].map {
            "Sources/Client/LivePlazaCombine/\($0)"
        }
        // Stores hold Combine's subjects and closures of apps, neither of which is sendable.
        let storeFolders = ["Publishing/", "Stores/"].map { "Sources/Client/LivePlazaKit/\($0)" }
        let allowedFolders = Self.foldersOfCLibraries.values.flatMap { $0 } + combineFolders + storeFolders
        for file in SourceTree.sources where !allowedFolders.contains(where: { file.path.hasPrefix($0) }) {
            for (number, text) in file.code {
                let isUnchecked = text.contains("@unchecked Sendable") || text.contains("nonisolated(unsafe)")
                #expect(!isUnchecked, "\(file.path):\(number)")
            }
        }
    }

    @Test func `only the target ChildProcess starts processes, because Foundation's class Process may crash`() {
        for file in SourceTree.sources + SourceTree.tests
        where file.target != "ChildProcess" && file.path != Self.thisFile {
            for (number, text) in file.code {
                for word in [" Process(", "posix_spawn", "popen("] {
                    #expect(!text.contains(word), "\(file.path):\(number)")
                }
            }
        }
    }

    @Test func `a file begins with its licence and has at most 400 lines`() {
        for file in SourceTree.sources + SourceTree.tests {
            #expect(file.lines.first == "// SPDX-License-Identifier: Apache-2.0", "\(file.path)")
            #expect(file.lines.count <= 400, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func `no source has a call that traps on an error, a forced cast or a to-do`() {
        for file in SourceTree.sources {
            for (number, text) in file.code {
                for word in ["try!", "fatalError(", "as!"] { #expect(!text.contains(word), "\(file.path):\(number)") }
            }
            for (number, line) in file.lines.enumerated() {
                for word in ["TODO", "FIXME"] { #expect(!line.contains(word), "\(file.path):\(number + 1)") }
            }
        }
    }

    @Test func `no thread sleeps, and no core uses a clock or randomness`() {
        let sleepCalls = ["Thread.sleep", "usleep(", "nanosleep("]
        let clocksAndRandomness = ["Clock", ".now()", "SystemRandomNumberGenerator", "Date("]
        for file in SourceTree.sources {
            let isCore =
                file.target.hasSuffix("Core") || ["MachineKit", "PlazaModel"].contains(file.target)
                || file.path.hasPrefix(Self.coreOfSDK)
            for (number, text) in file.code {
                // A benchmark sends its load at exact times, for which its threads sleep.
                if file.target != "Bench" {
                    // `DedicatedThread.sleep` is allowed, because it waits for a condition variable.
                    let otherCode = text.replacing("DedicatedThread.sleep(", with: "")
                    for word in sleepCalls { #expect(!otherCode.contains(word), "\(file.path):\(number)") }
                }
                if isCore {
                    for word in clocksAndRandomness { #expect(!text.contains(word), "\(file.path):\(number)") }
                }
            }
        }
    }

    @Test func `threads wait for a condition variable, not for a semaphore`() {
        for file in SourceTree.sources + SourceTree.tests where file.path != Self.thisFile {
            for (number, text) in file.code {
                for word in ["DispatchSemaphore", "sem_wait("] {
                    #expect(!text.contains(word), "\(file.path):\(number) — use ConditionVariable or WakeSignal")
                }
            }
        }
    }

    @Test func `each test has a name in backquotes, which can be a sentence, and no test uses XCTest`() {
        for file in SourceTree.tests {
            for (number, text) in file.code {
                let isTest = text.drop { $0 == " " }.hasPrefix("@Test") && text.contains(" func ")
                #expect(!isTest || text.contains(" func `"), "\(file.path):\(number)")
            }
            #expect(!file.imports.contains("XCTest"), "\(file.path)")
        }
    }
}
