// SPDX-License-Identifier: Apache-2.0

/// Calculations with numbers from outside, which may be any: a result beyond the type's bounds is the nearest bound.
extension FixedWidthInteger {
    /// The sum.
    @inlinable package func saturatingAdd(_ other: Self) -> Self {
        let (sum, isBeyond) = self.addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The difference.
    @inlinable package func saturatingSubtract(_ other: Self) -> Self {
        let (difference, isBeyond) = self.subtractingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .max : .min) : difference
    }

    /// The product.
    @inlinable package func saturatingMultiply(_ factor: Self) -> Self {
        let (product, isBeyond) = self.multipliedReportingOverflow(by: factor)
        return isBeyond ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }
}
