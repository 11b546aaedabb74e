//! The parts of a pattern that are patterns, those in conditions aside.

use spargebra::algebra::GraphPattern;

macro_rules! parts {
    ($(#[$doc:meta])* $name:ident $($mutability:tt)?) => {
        $(#[$doc])*
        pub(super) fn $name(pattern: & $($mutability)? GraphPattern) -> Vec<& $($mutability)? GraphPattern> {
            match pattern {
                GraphPattern::Join { left, right }
                | GraphPattern::Lateral { left, right }
                | GraphPattern::LeftJoin { left, right, .. }
                | GraphPattern::Union { left, right }
                | GraphPattern::Minus { left, right } => vec![left, right],
                GraphPattern::Filter { inner, .. }
                | GraphPattern::Extend { inner, .. }
                | GraphPattern::Graph { inner, .. }
                | GraphPattern::Group { inner, .. }
                | GraphPattern::OrderBy { inner, .. }
                | GraphPattern::Project { inner, .. }
                | GraphPattern::Distinct { inner }
                | GraphPattern::Reduced { inner }
                | GraphPattern::Slice { inner, .. } => vec![inner],
                // A service is asked about its data, not ours.
                GraphPattern::Bgp { .. }
                | GraphPattern::Path { .. }
                | GraphPattern::Values { .. }
                | GraphPattern::Service { .. } => Vec::new(),
            }
        }
    };
}

parts!(
    /// The parts.
    parts
);
parts!(
    /// The parts, to be changed.
    parts_mut mut
);
