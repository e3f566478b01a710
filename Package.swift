// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Every target is built alike: Swift 6 mode, the coming language rules, and no warning let through.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
    .strictMemorySafety(),  // SE-0458
    .treatAllWarnings(as: .error),  // SE-0443
]

func library(
    _ name: String, in folder: String, exclude: [String] = [], _ dependencies: [Target.Dependency] = [],
    resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder)", exclude: exclude, resources: resources,
        swiftSettings: strict)
}

/// A service's `main.swift` stands in the service's folder, beside the folders of its other targets.
func executable(
    _ name: String, in folder: String, exclude: [String] = [],
    _ dependencies: [Target.Dependency]
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/\(folder)", exclude: exclude,
        swiftSettings: strict)
}

func tests(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil,
    exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(folder)", exclude: exclude, resources: resources,
        swiftSettings: strict)
}

/// Debian's C libraries: a module map each, and nothing else.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CRdkafka", path: "Sources/Platform/C/CRdkafka", pkgConfig: "rdkafka",
        providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CHiredis", path: "Sources/Platform/C/CHiredis", providers: [.apt(["libhiredis-dev"])]),
    .systemLibrary(name: "CUV", path: "Sources/Platform/C/CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(
        name: "CMicrohttpd", path: "Sources/Platform/C/CMicrohttpd", pkgConfig: "libmicrohttpd",
        providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CJose", path: "Sources/Platform/C/CJose", providers: [.apt(["libcjose-dev"])]),
    .systemLibrary(
        name: "CCurl", path: "Sources/Platform/C/CCurl", pkgConfig: "libcurl",
        providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
        name: "COpenSSL", path: "Sources/Platform/C/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
        name: "CZlib", path: "Sources/Platform/C/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CThread", path: "Sources/Platform/C/CThread"),
    .systemLibrary(name: "CSpawn", path: "Sources/Platform/C/CSpawn"),
]

/// Values and decisions: no IO, no clock, no chance.
let cores: [Target] = [
    library("MachineKit", in: "Model/MachineKit"),
    library("PlazaModel", in: "Model/PlazaModel", ["MachineKit"]),
    library("DirectoryCore", in: "Services/Directory/Core", ["MachineKit", "PlazaModel"]),
    library("AudienceCore", in: "Services/Audience/Core", ["MachineKit", "PlazaModel"]),
    library("BarrageCore", in: "Services/Barrage/Core", ["MachineKit", "PlazaModel"]),
    library("StageCore", in: "Services/Stage/Core", ["MachineKit", "PlazaModel"]),
    library("GatewayCore", in: "Services/Gateway/Core", ["MachineKit", "PlazaModel"]),
]

/// The edge: the wrappers of the C libraries, and the shell that runs any machine.
let edge: [Target] = [
    library("Concurrency", in: "Platform/Concurrency", ["CThread", "MachineKit"]),
    library("PlazaWire", in: "Model/PlazaWire", ["MachineKit", "PlazaModel"]),
    library("Observability", in: "Platform/Observability", ["Concurrency", "MachineKit"]),
    library("Settings", in: "Services/Runtime/Settings"),
    library("ChildProcess", in: "Platform/Process", ["CSpawn"]),
    library("ClientAddress", in: "Platform/ClientAddress"),
    library("EventLoop", in: "Platform/EventLoop", ["CUV", "ClientAddress", "Concurrency", "MachineKit"]),
    library("TLS", in: "Platform/TLS", ["COpenSSL", "EventLoop"]),
    library("WebSocket", in: "Platform/WebSocket", ["EventLoop", "ClientAddress", "COpenSSL", "MachineKit"]),
    library(
        "HTTPServer", in: "Platform/HTTP/Server", ["CMicrohttpd", "ClientAddress", "Concurrency", "MachineKit"]),
    library("HTTPClient", in: "Platform/HTTP/Client", ["CCurl", "COpenSSL", "Concurrency", "MachineKit"]),
    library("Tokens", in: "Platform/Tokens", ["CJose", "MachineKit", "PlazaWire"]),
    library("Compression", in: "Platform/Compression", ["CZlib"]),
    library(
        "KafkaClient", in: "Platform/Kafka/Client", ["CRdkafka", "MachineKit", "Concurrency", "Settings"]),
    library("EmbeddedBroker", in: "Platform/Kafka/EmbeddedBroker", ["CRdkafka", "MachineKit"]),
    library("RedisClient", in: "Platform/Redis", ["CHiredis", "MachineKit", "Concurrency"]),
    library(
        "ServiceShell", in: "Services/Runtime/Shell",
        [
            "MachineKit", "PlazaModel", "PlazaWire", "Compression", "KafkaClient", "HTTPClient", "HTTPServer",
            "Observability",
            "Settings",
            "Concurrency",
        ]),
    library(
        "Presence", in: "Services/Audience/Redis",
        [
            "AudienceCore", "RedisClient", "ServiceShell", "MachineKit", "PlazaModel", "PlazaWire", "Observability",
            "Settings", "Concurrency",
        ],
        resources: [.embedInCode("Scripts")]),
    library(
        "Webhooks", in: "Services/Runtime/Webhooks",
        [
            "HTTPClient", "ServiceShell", "MachineKit", "PlazaModel", "PlazaWire", "KafkaClient", "Observability",
            "Concurrency", "Settings",
        ]),
    library(
        "Gateway", in: "Services/Gateway", exclude: ["Core", "main.swift"],
        [
            "Webhooks", "HTTPClient", "ClientAddress",
            "GatewayCore", "PlazaModel", "PlazaWire", "MachineKit", "Concurrency", "EventLoop", "WebSocket",
            "HTTPServer",
            "Tokens", "KafkaClient", "ServiceShell", "Observability", "Settings", "Compression",
        ]),
    library(
        "ProtocolClient", in: "Tools/ProtocolClient",
        ["PlazaModel", "PlazaWire", "MachineKit", "EventLoop", "WebSocket", "Concurrency"]),
    library("LivePlazaCombine", in: "Client/LivePlazaCombine"),
    library(
        "LivePlazaKit", in: "Client/LivePlazaKit", ["LivePlazaCombine", "PlazaModel", "PlazaWire", "MachineKit"]),
    library(
        "LivePlazaTesting", in: "Client/LivePlazaTesting",
        [
            "LivePlazaKit", "PlazaWire", "PlazaModel", "MachineKit", "DirectoryCore", "AudienceCore", "BarrageCore",
            "StageCore", "GatewayCore",
        ]),
    library(
        "LivePlazaTransport", in: "Client/LivePlazaTransport",
        ["LivePlazaKit", "Concurrency", "EventLoop", "TLS", "WebSocket"]),
    library(
        "ClusterKit", in: "Tools/ClusterKit",
        [
            "ChildProcess", "EmbeddedBroker", "HTTPServer", "KafkaClient", "Concurrency", "MachineKit", "PlazaModel",
            "PlazaWire", "Settings", "Tokens",
        ]),
    library(
        "LoadKit", in: "Tools/LoadKit",
        [
            "ProtocolClient", "Observability", "MachineKit", "PlazaModel", "PlazaWire", "EventLoop", "WebSocket",
            "Concurrency", "Tokens", "LivePlazaCombine", "LivePlazaKit", "LivePlazaTransport",
        ]),
    library(
        "AttackKit", in: "Tools/AttackKit",
        [
            "ClusterKit", "LoadKit", "ProtocolClient", "ClientAddress", "Observability", "MachineKit", "PlazaModel",
            "PlazaWire", "EventLoop", "WebSocket", "Concurrency",
        ]),
    library(
        "ScaleKit", in: "Tools/ScaleKit",
        ["ClusterKit", "DashboardKit", "LoadKit", "ProtocolClient", "PlazaModel", "Concurrency", "Observability"]),
    library("DashboardKit", in: "Tools/DashboardKit", ["LoadKit", "Observability"]),
    library(
        "InspectKit", in: "Tools/InspectKit",
        ["Concurrency", "KafkaClient", "MachineKit", "PlazaModel", "PlazaWire", "ServiceShell"]),
    library(
        "ChaosKit", in: "Tools/ChaosKit",
        [
            "ChildProcess", "ClusterKit", "HTTPClient", "InspectKit", "KafkaClient", "LoadKit", "ProtocolClient",
            "EventLoop", "MachineKit", "PlazaModel", "PlazaWire", "ServiceShell", "Concurrency", "Settings",
        ]),
]

let executables: [Target] = [
    executable(
        "RoomDirectory", in: "Services/Directory", exclude: ["Core"],
        ["DirectoryCore", "ServiceShell", "Settings", "Webhooks", "PlazaModel", "PlazaWire"]),
    executable(
        "AudiencePresence", in: "Services/Audience", exclude: ["Core", "Redis"],
        ["Presence", "ServiceShell", "PlazaModel"]),
    executable(
        "BarrageFanout", in: "Services/Barrage", exclude: ["Core"],
        ["BarrageCore", "MachineKit", "ServiceShell", "PlazaModel", "Observability"]),
    executable("CohostBattle", in: "Services/Stage", exclude: ["Core"], ["StageCore", "ServiceShell", "PlazaModel"]),
    executable(
        "GatewayServer", in: "Services/Gateway",
        exclude: ["Core", "Calls", "Delivery", "HTTP", "ReadModel", "Replay", "Shard", "Startup"],
        [
            "Gateway", "ServiceShell", "Settings", "Tokens", "Webhooks", "Observability", "MachineKit", "PlazaModel",
            "PlazaWire",
        ]),
    executable(
        "Plaza", in: "Tools/plaza",
        [
            "AttackKit", "ChaosKit", "ClusterKit", "DashboardKit", "Gateway", "GatewayCore", "HTTPServer", "InspectKit",
            "KafkaClient", "LoadKit", "ProtocolClient", "ScaleKit",
            "ServiceShell",
            "Concurrency",
            "Settings", "Tokens", "PlazaModel", "PlazaWire", "MachineKit",
        ]),
    executable(
        "Bench", in: "Tools/Bench",
        [
            "MachineKit", "PlazaModel", "PlazaWire", "BarrageCore", "DirectoryCore", "StageCore", "EventLoop",
            "WebSocket",
            "Gateway", "ChildProcess",
        ]),
]

/// Apps as their developers write them, over the products for apps.
let examples: [Target] = [
    library("FirstLiveSteps", in: "../Examples/FirstLive/Steps", ["LivePlazaKit"]),
    executable(
        "FirstLive", in: "../Examples/FirstLive/App", ["FirstLiveSteps", "LivePlazaKit", "LivePlazaTransport"]),
    library("ViewerScreens", in: "../Examples/TerminalViewer/Screens"),
    executable(
        "TerminalViewer", in: "../Examples/TerminalViewer/App",
        ["ViewerScreens", "LivePlazaCombine", "LivePlazaKit", "LivePlazaTransport"]),
]

/// One file of an app's code, in the language mode and with the settings of apps.
func appCode(_ name: String, in folder: String, _ mode: SwiftLanguageMode) -> Target {
    .target(
        name: name, dependencies: ["LivePlazaCombine", "LivePlazaKit"], path: "Tests/\(folder)",
        swiftSettings: [.swiftLanguageMode(mode)])
}

let testTargets: [Target] = [
    appCode("AppInSwift5", in: "Client/AppCode/Swift5", .v5),
    appCode("AppInSwift6", in: "Client/AppCode/Swift6", .v6),
    library("Repository", in: "../Tests/Repository"),
    library(
        "ConformanceSupport", in: "../Tests/Client/ConformanceSupport", ["LivePlazaKit", "PlazaWire", "Repository"]),
    library(
        "FuzzTargets", in: "../Tests/Fuzz/Targets",
        [
            "MachineKit", "PlazaModel", "PlazaWire", "DirectoryCore", "AudienceCore", "BarrageCore", "StageCore",
            "GatewayCore", "Gateway", "ClientAddress", "WebSocket", "HTTPServer", "Tokens", "HTTPClient",
            "RedisClient", "KafkaClient", "ServiceShell", "Presence", "Webhooks", "ProtocolClient", "Observability",
        ]),
    library(
        "TestSupport", in: "../Tests/TestSupport",
        [
            "EventLoop", "ClusterKit", "ChildProcess", "Concurrency", "MachineKit", "PlazaModel", "KafkaClient",
            "EmbeddedBroker", "Repository",
        ]),
    library("MachineTestSupport", in: "../Tests/Services/MachineTestSupport", ["MachineKit"]),
    library("TallyMachine", in: "../Tests/Services/Runtime/TallyMachine", ["MachineKit", "PlazaModel"]),
    executable(
        "TallyService", in: "../Tests/Services/Runtime/TallyService",
        ["TallyMachine", "ServiceShell", "KafkaClient", "Observability", "PlazaModel"]),
    executable(
        "DeadlyPresence", in: "../Tests/Services/Audience/DeadlyPresence",
        ["Presence", "ServiceShell", "Settings", "KafkaClient", "MachineKit", "Observability", "PlazaModel"]),
    tests("ArchitectureTests", in: "Architecture", ["Repository"]),
    tests("FuzzTests", in: "Fuzz/Replay", ["FuzzTargets", "Repository"]),
    tests("MachineKitTests", in: "Model/MachineKit", ["MachineKit"]),
    tests("PlazaModelTests", in: "Model/PlazaModel", ["Repository", "PlazaModel", "MachineKit"]),
    tests("PlazaWireTests", in: "Model/PlazaWire", ["PlazaWire", "PlazaModel", "MachineKit"], exclude: ["Golden"]),
    tests(
        "DirectoryCoreTests", in: "Services/Directory",
        ["DirectoryCore", "PlazaModel", "MachineKit", "MachineTestSupport"]),
    tests("AudienceCoreTests", in: "Services/Audience/Core", ["AudienceCore", "PlazaModel", "MachineKit"]),
    tests(
        "BarrageCoreTests", in: "Services/Barrage", ["BarrageCore", "PlazaModel", "MachineKit", "MachineTestSupport"]),
    tests("StageCoreTests", in: "Services/Stage", ["StageCore", "PlazaModel", "MachineKit", "MachineTestSupport"]),
    tests("GatewayCoreTests", in: "Services/Gateway/Core", ["GatewayCore", "PlazaModel", "MachineKit"]),
    tests(
        "PermissionTests", in: "Services/Permissions",
        [
            "DirectoryCore", "AudienceCore", "BarrageCore", "StageCore", "PlazaModel", "MachineKit",
            "MachineTestSupport",
        ]),
    tests(
        "RecordSizeTests", in: "Services/RecordSizes",
        [
            "DirectoryCore", "AudienceCore", "BarrageCore", "StageCore", "PlazaWire", "PlazaModel", "MachineKit",
            "MachineTestSupport",
        ]),
    tests("CompressionTests", in: "Platform/Compression", ["Compression"]),
    tests("ChildProcessTests", in: "Platform/Process", ["ChildProcess", "Concurrency", "TestSupport"]),
    tests(
        "ObservabilityTests", in: "Platform/Observability",
        ["MachineKit", "Observability", "Settings", "ChildProcess", "Repository", "TestSupport"]),
    tests("ClientAddressTests", in: "Platform/ClientAddress", ["ClientAddress"]),
    tests(
        "EventLoopTests", in: "Platform/EventLoop",
        ["EventLoop", "ClientAddress", "Concurrency", "MachineKit", "TestSupport"]),
    tests(
        "WebSocketTests", in: "Platform/WebSocket",
        ["MachineKit", "WebSocket", "EventLoop", "ChildProcess", "TestSupport"],
        resources: [.embedInCode("Interop")]),
    tests("HTTPServerTests", in: "Platform/HTTP/Server", ["ClientAddress", "MachineKit", "HTTPServer"]),
    tests(
        "HTTPClientTests", in: "Platform/HTTP/Client",
        ["ClusterKit", "HTTPClient", "HTTPServer", "Concurrency", "MachineKit", "TestSupport"]),
    tests(
        "WebhooksTests", in: "Services/Runtime/Webhooks",
        [
            "Webhooks", "ClusterKit", "HTTPClient", "HTTPServer", "ServiceShell", "MachineKit", "PlazaModel",
            "PlazaWire",
            "KafkaClient",
            "EmbeddedBroker", "Observability", "Concurrency", "TestSupport",
        ]),
    tests("TokensTests", in: "Platform/Tokens", ["MachineKit", "Tokens", "PlazaWire"]),
    tests(
        "KafkaClientTests", in: "Platform/Kafka",
        ["KafkaClient", "EmbeddedBroker", "Concurrency", "MachineKit", "Settings", "TestSupport"]),
    tests("RedisClientTests", in: "Platform/Redis", ["MachineKit", "RedisClient", "Concurrency", "TestSupport"]),
    tests(
        "ServiceShellTests", in: "Services/Runtime/Shell",
        [
            "ServiceShell", "Compression", "KafkaClient", "EmbeddedBroker", "MachineKit", "PlazaModel", "PlazaWire",
            "Observability", "ClusterKit", "HTTPClient", "HTTPServer",
            "ChildProcess", "Concurrency", "TallyMachine", "TestSupport",
        ]),
    tests(
        "PresenceTests", in: "Services/Audience/Redis",
        [
            "Presence", "AudienceCore", "RedisClient", "ServiceShell", "PlazaModel", "PlazaWire", "MachineKit",
            "KafkaClient", "EmbeddedBroker", "Observability", "Settings", "Concurrency", "TestSupport",
        ]),
    tests(
        "GatewayTests", in: "Services/Gateway",
        [
            "Gateway", "GatewayCore", "PlazaModel", "PlazaWire", "MachineKit", "Concurrency", "Observability",
            "ClientAddress", "ClusterKit", "Settings", "WebSocket",
            "EventLoop", "HTTPServer", "Tokens", "Webhooks", "KafkaClient", "EmbeddedBroker", "ServiceShell",
            "TestSupport", "Repository",
        ], exclude: ["Core"]),
    tests("SettingsTests", in: "Services/Runtime/Settings", ["Settings", "TestSupport"]),
    tests(
        "LoadKitTests", in: "Tools/LoadKit",
        ["LoadKit", "ProtocolClient", "PlazaModel", "PlazaWire", "MachineKit", "Observability", "Repository"]),
    tests(
        "AttackKitTests", in: "Tools/AttackKit",
        ["AttackKit", "ProtocolClient", "PlazaModel", "WebSocket", "MachineKit"]),
    tests("DashboardKitTests", in: "Tools/DashboardKit", ["DashboardKit", "LoadKit"]),
    tests(
        "ScaleKitTests", in: "Tools/ScaleKit", ["ScaleKit", "ClusterKit", "LoadKit", "PlazaModel", "ProtocolClient"]),
    tests(
        "ChaosKitTests", in: "Tools/ChaosKit",
        [
            "ChaosKit", "ClusterKit", "HTTPClient", "InspectKit", "LoadKit", "Concurrency", "EventLoop", "MachineKit",
            "Observability", "PlazaModel", "PlazaWire", "ProtocolClient", "Settings",
        ]),
    tests(
        "InspectKitTests", in: "Tools/InspectKit",
        ["InspectKit", "MachineKit", "PlazaModel", "PlazaWire"]),
    tests(
        "ClusterKitTests", in: "Tools/ClusterKit",
        [
            "ClusterKit", "ChildProcess", "HTTPServer", "MachineKit", "PlazaModel", "Tokens", "Concurrency",
            "TestSupport",
        ]),
    tests(
        "ProtocolClientTests", in: "Tools/ProtocolClient",
        ["ProtocolClient", "LoadKit", "PlazaModel", "PlazaWire", "MachineKit", "Observability"]),
    tests(
        "LivePlazaKitTests", in: "Client/LivePlazaKit",
        [
            "ConformanceSupport", "LivePlazaKit", "LivePlazaTesting", "LivePlazaCombine", "Repository", "PlazaModel",
            "PlazaWire", "MachineKit",
        ]),
    tests(
        "LivePlazaTransportTests", in: "Client/LivePlazaTransport",
        ["LivePlazaTransport", "LivePlazaKit", "EventLoop", "WebSocket", "Concurrency", "TestSupport"]),
    tests(
        "LivePlazaTestingTests", in: "Client/LivePlazaTesting",
        [
            "AppInSwift5", "AppInSwift6", "ConformanceSupport", "LivePlazaTesting", "LivePlazaKit", "LivePlazaCombine",
            "PlazaModel", "MachineKit",
        ]),
    tests("ViewerScreensTests", in: "Examples/TerminalViewer", ["ViewerScreens"]),
    tests(
        "FirstLiveTests", in: "Examples/FirstLive",
        ["FirstLiveSteps", "LivePlazaKit", "LivePlazaTesting", "Repository"]),
    tests("LivePlazaCombineTests", in: "Client/LivePlazaCombine", ["LivePlazaCombine"]),
    tests(
        "PublicAPITests", in: "Client/PublicAPI",
        ["LivePlazaKit", "LivePlazaCombine", "LivePlazaTesting", "LivePlazaTransport", "Repository"]),
    tests(
        "ClusterTests", in: "Cluster",
        [
            "AppInSwift5", "AppInSwift6", "AttackKit", "ChaosKit", "ClusterKit", "ConformanceSupport", "InspectKit",
            "ChildProcess", "LivePlazaCombine", "LivePlazaKit", "LivePlazaTransport", "LoadKit", "ProtocolClient",
            "MachineKit", "PlazaModel", "PlazaWire", "ServiceShell", "KafkaClient", "Tokens", "Concurrency",
            "HTTPClient", "TestSupport",
        ], exclude: ["boundary_table.py", "boundary_cases.py", "boundary_http.py", "boundary_websocket.py"]),
]

let package = Package(
    name: "LivePlaza",
    // Of the products for apps; the services run on Linux.
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .executable(name: "room-directory", targets: ["RoomDirectory"]),
        .executable(name: "audience-presence", targets: ["AudiencePresence"]),
        .executable(name: "barrage-fanout", targets: ["BarrageFanout"]),
        .executable(name: "cohost-battle", targets: ["CohostBattle"]),
        .executable(name: "gateway", targets: ["GatewayServer"]),
        .executable(name: "plaza", targets: ["Plaza"]),
        .executable(name: "TerminalViewer", targets: ["TerminalViewer"]),
        .library(name: "LivePlazaKit", targets: ["LivePlazaKit"]),
        .library(name: "LivePlazaCombine", targets: ["LivePlazaCombine"]),
        .library(name: "LivePlazaTesting", targets: ["LivePlazaTesting"]),
        .library(name: "LivePlazaTransport", targets: ["LivePlazaTransport"]),
    ],
    targets: systemLibraries + cores + edge + executables + examples + testTargets,
    swiftLanguageModes: [.v6])
