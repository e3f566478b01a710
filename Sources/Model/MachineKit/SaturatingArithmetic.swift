// SPDX-License-Identifier: Apache-2.0

/// Arithmetic that never overflows: a result beyond the type's bounds becomes the nearest bound.
///
/// Used for numbers from other processes, which may have any value.
extension FixedWidthInteger {
    /// The sum.
    @inlinable package func saturatingAdd(_ other: Self) -> Self {
        let (sum, hasOverflowed) = self.addingReportingOverflow(other)
        return hasOverflowed ? (other < 0 ? .min : .max) : sum
    }

    /// The difference.
    @inlinable package func saturatingSubtract(_ other: Self) -> Self {
        let (difference, hasOverflowed) = self.subtractingReportingOverflow(other)
        return hasOverflowed ? (other < 0 ? .max : .min) : difference
    }

    /// The product.
    @inlinable package func saturatingMultiply(_ factor: Self) -> Self {
        let (product, hasOverflowed) = self.multipliedReportingOverflow(by: factor)
        return hasOverflowed ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }
}
