// SPDX-License-Identifier: Apache-2.0

/// On systems with Combine, this module exports Combine.
///
/// On other systems, the other files of this target declare the part of Combine that apps need to observe
/// LivePlazaKit's stores, with the same names, labels, generic parameters and behaviour. Therefore the same source
/// compiles with `import LivePlazaCombine` on both kinds of systems.
#if canImport(Combine)
@_exported public import Combine
#endif
