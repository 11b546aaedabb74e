//! JSON numbers: as they were spelled, and as exact decimals.

use super::Cursor;

/// A number as it was spelled.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a>(&'a str);

impl<'a> Number<'a> {
    /// `spelling` must be a valid JSON number.
    pub fn new(spelling: &'a str) -> Self {
        Self(spelling)
    }

    /// The spelling in the source.
    pub fn as_str(&self) -> &'a str {
        self.0
    }

    /// The exact value.
    pub fn to_decimal(&self) -> Decimal {
        Decimal::parse(self.0).unwrap_or_default()
    }
}

/// An exact decimal: equal by value, so that 1, 1.0 and 1e0 are equal, and -0 and 0.
///
/// Exponents are exact up to 38 digits. All larger exponents count as the same.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Decimal {
    negative: bool,
    /// The significant digits, without leading and trailing zeros; empty for zero.
    digits: String,
    /// The power of ten of the last digit.
    power: i128,
}

/// The largest exponent; the length of any text can be added to it without overflow.
const MAX_EXPONENT: i128 = i128::MAX / 2;

impl Decimal {
    /// Parses a number in JSON's spelling; `None` if it is not one. Takes time and memory linear in the spelling,
    /// whatever the exponent.
    pub fn parse(spelling: &str) -> Option<Self> {
        Cursor::new(spelling, 0).number().filter(|number| *number == spelling)?;
        let unsigned = spelling.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = [whole, fraction].concat();
        let significant = written.trim_end_matches('0');
        let digits = significant.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self::default());
        }
        let magnitude = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(MAX_EXPONENT).min(MAX_EXPONENT);
        let exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };
        let power = exponent + (written.len() - significant.len()) as i128 - fraction.len() as i128;
        Some(Self { negative: spelling.starts_with('-'), digits: digits.to_owned(), power })
    }

    /// True if the value is an integer.
    pub fn is_integer(&self) -> bool {
        self.power >= 0
    }

    /// Returns the plain form without an exponent: `1000`, `-0.5`, `0`. Fractions do not end in zero, and zero is never
    /// `-0`. `None` if the form has more than `max_digits` digits, counting the zero of `0.5`.
    pub fn to_plain(&self, max_digits: usize) -> Option<String> {
        let whole_digits = self.digits.len() as i128 + self.power;
        let fraction_digits = (-self.power).max(0);
        if whole_digits.max(1) + fraction_digits > max_digits as i128 {
            return None;
        }
        // From here on, every count is at most `max_digits`.
        let zeros = |count: i128| "0".repeat(usize::try_from(count).unwrap_or(0));
        let mut plain = [zeros(1 - whole_digits), self.digits.clone(), zeros(self.power)].concat();
        if fraction_digits > 0 {
            plain.insert(plain.len() - usize::try_from(fraction_digits).ok()?, '.');
        }
        if self.negative {
            plain.insert(0, '-');
        }
        Some(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(spelling: &str) -> Decimal {
        Decimal::parse(spelling).unwrap()
    }

    #[test]
    fn equality_is_of_values() {
        let classes: [&[&str]; 9] = [
            &["0", "-0", "0.0", "-0.000", "0e5", "0E-99999999999999999999999999999999999999999999"],
            &[
                "1",
                "1.0",
                "1e0",
                "10e-1",
                "0.1e1",
                "1E+0",
                "1e-0",
                "0.0001e4",
                "1e00000000000000000000000000000000000000000",
            ],
            &["-1", "-1.00"],
            &["1000", "1e3", "10e+2"],
            &["1e99999999999999999999", "10e99999999999999999998", "0.1e100000000000000000000"],
            &["1e-99999999999999999999"],
            &["1e999999999999999999999999999999999999999999", "1.0e+0999999999999999999999999999999999999999999"],
            &["9007199254740993"],
            &["9007199254740992", "9007199254740992.0"],
        ];
        for (i, a) in classes.into_iter().enumerate() {
            for (j, b) in classes.into_iter().enumerate() {
                for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
                    assert_eq!(decimal(a) == decimal(b), i == j, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn only_json_numbers_parse() {
        for spelling in [
            "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1e1.5", "1e+-1", "0x1", "1 ", " 1", "1,5", "NaN", "١",
        ] {
            assert_eq!(Decimal::parse(spelling), None, "{spelling}");
        }
    }

    #[test]
    fn plain_forms() {
        for (spelling, digits, plain) in [
            ("0", 1, "0"),
            ("-0.00e7", 1, "0"),
            ("1e3", 4, "1000"),
            ("-0.5", 2, "-0.5"),
            ("-5e-1", 2, "-0.5"),
            ("1.50", 2, "1.5"),
            ("120e-1", 2, "12"),
            ("12e-5", 6, "0.00012"),
            ("12345e-3", 5, "12.345"),
            ("10.010", 4, "10.01"),
        ] {
            assert_eq!(decimal(spelling).to_plain(digits).as_deref(), Some(plain), "{spelling}");
            assert_eq!(decimal(spelling).to_plain(digits - 1), None, "{spelling}");
            assert_eq!(decimal(plain), decimal(spelling));
        }
        for spelling in
            ["1e400000000", "-1e-400000000", "1e99999999999999999999", "1e-9999999999999999999999999999999999999999"]
        {
            assert_eq!(decimal(spelling).to_plain(1000), None, "{spelling}");
        }
    }

    #[test]
    fn integers() {
        for spelling in ["0", "-7", "1.0", "1e400", "100e-2", "1e9999999999999999999999999999999999999999"] {
            assert!(decimal(spelling).is_integer(), "{spelling}");
        }
        for spelling in ["0.5", "15e-1", "-1e-400", "1e-9999999999999999999999999999999999999999"] {
            assert!(!decimal(spelling).is_integer(), "{spelling}");
        }
    }
}
