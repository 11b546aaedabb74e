//! Numbers as literals, after [Object to RDF
//! Conversion](https://www.w3.org/TR/json-ld11-api/#object-to-rdf-conversion), and spellings that every JSON-LD
//! processor converts to the same literal.

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use crate::json::{Decimal, Numbers};

/// From here on, processors disagree on integers: JSON-LD 1.1 API, section 8.6.
const MAX_INTEGER: f64 = 1e21;

/// From here on, some processors already treat an integer as a double.
const MAX_NATIVE_INTEGER: f64 = 1e20;

/// The maximum number of digits of a decimal.
const MAX_DECIMAL_DIGITS: usize = 1_024;

/// A number as a literal.
pub struct NumberLiteral {
    pub lexical: String,
    /// The default datatype, if the context does not give another.
    pub datatype: NamedNodeRef<'static>,
    /// True if the value differs from the spelled number.
    pub changed: bool,
    /// The number in JSON, if every processor converts it to the same literal.
    pub native: Option<String>,
}

impl NumberLiteral {
    /// Creates the literal of a number with the datatype that the context gives. Returns `None` if the number is beyond
    /// the range of a double. With [`Numbers::Exact`], a number that JSON-LD treats as an integer keeps all its digits.
    ///
    /// Under `xsd:decimal`, the literal is a decimal. JSON-LD 1.1 API, section 8.6, would write a number with a fraction
    /// as a double, with an exponent, which is not in the lexical space of that datatype.
    pub fn new(spelling: &str, numbers: Numbers, datatype: Option<NamedNodeRef<'_>>) -> Option<Self> {
        let double = datatype == Some(xsd::DOUBLE);
        let value: f64 = spelling.parse().ok().filter(|value: &f64| value.is_finite())?;
        // Turns negative zero into zero.
        let value = value + 0.0;
        if !double && value.abs() < MAX_INTEGER {
            let exact = Decimal::parse(spelling)?;
            let exact = if exact.is_integer() { exact.to_plain(32) } else { None };
            let rounded = (value.fract() == 0.0).then(|| format!("{value:.0}"));
            let changed = exact != rounded;
            let native = value.abs() < MAX_NATIVE_INTEGER;
            match (numbers, exact, rounded) {
                (Numbers::Rfc8785, _, Some(rounded)) => return Some(Self::integer(rounded, changed, native)),
                (Numbers::Exact, Some(exact), _) => return Some(Self::integer(exact, false, native && !changed)),
                _ => {}
            }
        }
        if datatype == Some(xsd::DECIMAL)
            && let Some(decimal) = Self::decimal(spelling, value, numbers)
        {
            return Some(decimal);
        }
        let lexical = canonical_double(value);
        let mut buffer = ryu_js::Buffer::new();
        let shortest = buffer.format_finite(value);
        // Some processors treat any number below `MAX_INTEGER` without a point as an integer, even 1e-7; some return
        // the digits that they read.
        let is_double = double || shortest.contains('.') || value.abs() >= MAX_INTEGER;
        let native = is_double && significant(shortest) == significant(&lexical);
        let changed = Decimal::parse(&lexical) != Decimal::parse(spelling);
        Some(Self { native: native.then(|| shortest.to_owned()), lexical, datatype: xsd::DOUBLE, changed })
    }

    /// Returns the literal of a decimal: with all digits, or with the double's digits. `None` if these are too many.
    fn decimal(spelling: &str, value: f64, numbers: Numbers) -> Option<Self> {
        let spelled = Decimal::parse(spelling)?;
        let decimal = match numbers {
            Numbers::Exact => spelled.clone(),
            Numbers::Rfc8785 => Decimal::parse(ryu_js::Buffer::new().format_finite(value))?,
        };
        let changed = decimal != spelled;
        Some(Self { lexical: decimal.to_plain(MAX_DECIMAL_DIGITS)?, datatype: xsd::DECIMAL, changed, native: None })
    }

    fn integer(lexical: String, changed: bool, native: bool) -> Self {
        Self { native: native.then(|| lexical.clone()), lexical, datatype: xsd::INTEGER, changed }
    }
}

/// Formats as `%1.15E` without trailing zeros: JSON-LD 1.1 API, "canonical double representation".
fn canonical_double(value: f64) -> String {
    let text = format!("{value:.15E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0');
    let zero = if mantissa.ends_with('.') { "0" } else { "" };
    format!("{mantissa}{zero}E{exponent}")
}

/// Returns the significant digits of a double.
fn significant(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_have_one_form() {
        for (value, text) in [
            (0.0, "0.0E0"),
            (1.5, "1.5E0"),
            (0.1, "1.0E-1"),
            (-12.25, "-1.225E1"),
            (1e21, "1.0E21"),
            (5.3e-324, "4.940656458412465E-324"),
            (123.456, "1.23456E2"),
        ] {
            assert_eq!(canonical_double(value), text);
        }
    }

    #[test]
    fn numbers_under_decimal_are_decimals() {
        let decimal = |spelling, numbers| {
            let literal = NumberLiteral::new(spelling, numbers, Some(xsd::DECIMAL))?;
            assert_eq!(literal.native, None, "{spelling}");
            Some((literal.lexical, literal.changed))
        };
        for (spelling, exact, rounded) in [
            ("0.5", "0.5", "0.5"),
            ("1e-7", "0.0000001", "0.0000001"),
            ("0.1000000000000000000001", "0.1000000000000000000001", "0.1"),
            ("1e21", "1000000000000000000000", "1000000000000000000000"),
        ] {
            assert_eq!(decimal(spelling, Numbers::Exact), Some((exact.to_owned(), false)));
            assert_eq!(decimal(spelling, Numbers::Rfc8785), Some((rounded.to_owned(), exact != rounded)));
        }
        // Integers are as they were.
        let integer = NumberLiteral::new("15", Numbers::Exact, Some(xsd::DECIMAL)).expect("a number");
        assert_eq!((integer.lexical.as_str(), integer.native.as_deref()), ("15", Some("15")));
    }

    #[test]
    fn numbers_that_processors_read_differently_are_not_native() {
        let native = |spelling, numbers| NumberLiteral::new(spelling, numbers, None).and_then(|literal| literal.native);
        for (spelling, exact, rounded) in [
            ("1", Some("1"), Some("1")),
            ("-0.0", Some("0"), Some("0")),
            ("1e2", Some("100"), Some("100")),
            ("1.5", Some("1.5"), Some("1.5")),
            ("9007199254740993", None, Some("9007199254740992")),
            ("12345678901234567890", None, Some("12345678901234567168")),
            ("123456789012345678901", None, None),
            ("1e21", Some("1e+21"), Some("1e+21")),
            ("1.00000000000000000001", None, Some("1")),
            ("0.30000000000000004", None, None),
            ("6.96530365426231e-303", None, None),
            ("0.00125", Some("0.00125"), Some("0.00125")),
            ("1e-7", None, None),
            ("1e400", None, None),
        ] {
            assert_eq!(native(spelling, Numbers::Exact).as_deref(), exact, "{spelling}");
            assert_eq!(native(spelling, Numbers::Rfc8785).as_deref(), rounded, "{spelling}");
        }
    }
}
