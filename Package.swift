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

func library(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil, exclude: [String] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: strict)
}

/// Debian's C libraries: a module map each, and nothing else.
let systemLibraries: [Target] = [
    .systemLibrary(name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
    .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CJose", providers: [.apt(["libcjose-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CTsan"),
    .systemLibrary(name: "CSpawn"),
]

/// Values and decisions: no IO, no clock, no chance.
let cores: [Target] = [
    library("CoreKit"),
    library("PlazaModel", ["CoreKit"]),
    library("DirectoryCore", ["CoreKit", "PlazaModel"]),
    library("AudienceCore", ["CoreKit", "PlazaModel"]),
    library("BarrageCore", ["CoreKit", "PlazaModel"]),
    library("StageCore", ["CoreKit", "PlazaModel"]),
    library("GatewayCore", ["CoreKit", "PlazaModel"]),
]

/// The edge: each C library behind one target, and the shell that runs any machine.
let edge: [Target] = [
    library("Concurrency", ["CTsan"]),
    library("PlazaWire", ["CoreKit", "PlazaModel"]),
    library("Observability", ["Concurrency"]),
    library("Settings"),
    library("ChildProcess", ["CSpawn"]),
    library("EventLoop", ["CUV", "Concurrency"]),
    library("WebSocket", ["EventLoop", "COpenSSL"]),
    library("HTTPServer", ["CMicrohttpd", "Concurrency"]),
    library("HTTPClient", ["CCurl", "COpenSSL", "Concurrency"]),
    library("Tokens", ["CJose"]),
    library("Deflate", ["CZlib"]),
    library("KafkaClient", ["CRdkafka", "Concurrency"]),
    library("EmbeddedBroker", ["CRdkafka"]),
    library("RedisClient", ["CHiredis", "CoreKit", "Concurrency"]),
    library(
        "ServiceShell",
        [
            "CoreKit", "PlazaModel", "PlazaWire", "Deflate", "KafkaClient", "HTTPServer", "Observability", "Settings",
            "Concurrency",
        ]),
    library(
        "Presence",
        [
            "AudienceCore", "RedisClient", "ServiceShell", "CoreKit", "PlazaModel", "PlazaWire", "Observability",
            "Settings", "Concurrency",
        ],
        resources: [.embedInCode("Scripts")]),
    library(
        "Webhooks",
        [
            "HTTPClient", "ServiceShell", "CoreKit", "PlazaModel", "PlazaWire", "KafkaClient", "Observability",
            "Concurrency",
        ]),
    library(
        "Gateway",
        [
            "Webhooks", "HTTPClient",
            "GatewayCore", "PlazaModel", "PlazaWire", "CoreKit", "Concurrency", "EventLoop", "WebSocket", "HTTPServer",
            "Tokens", "KafkaClient", "ServiceShell", "Observability", "Settings",
        ]),
    library("LivePlazaKit", ["PlazaModel", "PlazaWire", "CoreKit", "EventLoop", "WebSocket", "Concurrency"]),
    library("ClusterKit", ["ChildProcess", "EmbeddedBroker", "Concurrency", "PlazaWire", "Settings", "Tokens"]),
    library(
        "LoadKit",
        [
            "LivePlazaKit", "Observability", "CoreKit", "PlazaModel", "PlazaWire", "EventLoop", "WebSocket",
            "Concurrency", "Tokens",
        ]),
]

let executables: [Target] = [
    executable("RoomDirectory", ["DirectoryCore", "ServiceShell", "Webhooks", "PlazaModel"]),
    executable("AudiencePresence", ["Presence", "ServiceShell", "PlazaModel"]),
    executable("BarrageFanout", ["BarrageCore", "CoreKit", "ServiceShell", "PlazaModel", "Observability"]),
    executable("CohostBattle", ["StageCore", "ServiceShell", "PlazaModel"]),
    executable("GatewayServer", ["Gateway", "ServiceShell", "PlazaModel"]),
    executable(
        "Plaza", ["ClusterKit", "LoadKit", "LivePlazaKit", "Settings", "Tokens", "PlazaModel", "PlazaWire", "CoreKit"]),
    executable(
        "Bench",
        [
            "CoreKit", "PlazaModel", "PlazaWire", "BarrageCore", "DirectoryCore", "StageCore", "EventLoop", "WebSocket",
            "Gateway", "ChildProcess",
        ]),
]

let testTargets: [Target] = [
    library(
        "TestSupport",
        [
            "HTTPServer", "ClusterKit", "ChildProcess", "Concurrency", "CoreKit", "PlazaModel", "KafkaClient",
            "EmbeddedBroker",
        ]),
    tests("ArchitectureTests", []),
    tests("CoreKitTests", ["CoreKit"]),
    tests("PlazaModelTests", ["PlazaModel", "CoreKit"]),
    tests("PlazaWireTests", ["PlazaWire", "PlazaModel", "CoreKit"], exclude: ["Golden"]),
    tests("DirectoryCoreTests", ["DirectoryCore", "PlazaModel", "CoreKit"]),
    tests("AudienceCoreTests", ["AudienceCore", "PlazaModel", "CoreKit"]),
    tests("BarrageCoreTests", ["BarrageCore", "PlazaModel", "CoreKit"]),
    tests("StageCoreTests", ["StageCore", "PlazaModel", "CoreKit"]),
    tests("GatewayCoreTests", ["GatewayCore", "PlazaModel", "CoreKit"]),
    tests(
        "PermissionTests",
        ["DirectoryCore", "AudienceCore", "BarrageCore", "StageCore", "PlazaModel", "CoreKit"]),
    tests("DeflateTests", ["Deflate"]),
    tests("ChildProcessTests", ["ChildProcess", "TestSupport"]),
    tests("ObservabilityTests", ["Observability", "Settings", "ChildProcess", "TestSupport"]),
    tests("EventLoopTests", ["EventLoop", "Concurrency"]),
    tests(
        "WebSocketTests", ["WebSocket", "EventLoop", "ChildProcess", "TestSupport"],
        resources: [.embedInCode("Interop")]),
    tests("HTTPServerTests", ["HTTPServer"]),
    tests("HTTPClientTests", ["HTTPClient", "HTTPServer", "Concurrency", "TestSupport"]),
    tests(
        "WebhooksTests",
        [
            "Webhooks", "HTTPClient", "HTTPServer", "ServiceShell", "CoreKit", "PlazaModel", "PlazaWire", "KafkaClient",
            "EmbeddedBroker", "Observability", "Concurrency", "TestSupport",
        ]),
    tests("TokensTests", ["Tokens"]),
    tests("KafkaClientTests", ["KafkaClient", "EmbeddedBroker", "TestSupport"]),
    tests("RedisClientTests", ["RedisClient", "TestSupport"]),
    tests(
        "ServiceShellTests",
        [
            "ServiceShell", "Deflate", "KafkaClient", "EmbeddedBroker", "CoreKit", "PlazaModel", "PlazaWire",
            "Observability",
            "Concurrency", "TestSupport",
        ]),
    tests(
        "PresenceTests",
        [
            "Presence", "AudienceCore", "RedisClient", "ServiceShell", "PlazaModel", "PlazaWire", "CoreKit",
            "KafkaClient", "EmbeddedBroker", "Observability", "Settings", "Concurrency", "TestSupport",
        ]),
    tests(
        "GatewayTests",
        [
            "Gateway", "GatewayCore", "PlazaModel", "PlazaWire", "CoreKit", "Concurrency", "Observability", "WebSocket",
            "EventLoop", "HTTPServer", "Tokens", "Webhooks", "KafkaClient", "EmbeddedBroker", "ServiceShell",
            "TestSupport",
        ]),
    tests("LivePlazaKitTests", ["LivePlazaKit", "LoadKit", "PlazaModel", "PlazaWire", "CoreKit", "Observability"]),
    tests(
        "ClusterTests",
        [
            "ClusterKit", "ChildProcess", "LoadKit", "LivePlazaKit", "PlazaModel", "PlazaWire", "KafkaClient", "Tokens",
            "Concurrency", "HTTPClient", "TestSupport",
        ]),
]

let package = Package(
    name: "LivePlaza",
    products: [
        .executable(name: "room-directory", targets: ["RoomDirectory"]),
        .executable(name: "audience-presence", targets: ["AudiencePresence"]),
        .executable(name: "barrage-fanout", targets: ["BarrageFanout"]),
        .executable(name: "cohost-battle", targets: ["CohostBattle"]),
        .executable(name: "gateway", targets: ["GatewayServer"]),
        .executable(name: "plaza", targets: ["Plaza"]),
        .library(name: "LivePlazaKit", targets: ["LivePlazaKit"]),
    ],
    targets: systemLibraries + cores + edge + executables + testTargets,
    swiftLanguageModes: [.v6])
