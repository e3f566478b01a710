// SPDX-License-Identifier: Apache-2.0

/// This module is Combine where the system has it.
///
/// Elsewhere it declares the part of Combine that apps of the stores
/// use, with the same names, labels, generic parameters and behaviour: all other files of the target. So the same
/// source compiles with `import LivePlazaCombine` on both.
#if canImport(Combine)
@_exported public import Combine
#endif
