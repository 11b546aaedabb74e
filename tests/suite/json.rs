//! JSON: the published test suites, the properties that the rest of the program relies on, and the limits.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but not in what tests call"
)]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use rpcgraph::json::{
    Canonical, Decimal, ErrorKind, MAX_DEPTH, NumberOutOfRange, Numbers, Text, Value, parse, write_canonical,
    write_str, write_string,
};

use crate::support::{needed_corpora, same_value};

/// The canonical form of a text that is JSON, and whether it is interoperable.
fn canonical(text: &[u8], numbers: Numbers) -> Result<(String, bool), NumberOutOfRange> {
    let value = parse(text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)));
    let mut out = String::new();
    let Canonical { interoperable } = write_canonical(&value, numbers, &mut out)?;
    Ok((out, interoperable))
}

fn exact(text: &str) -> (String, bool) {
    canonical(text.as_bytes(), Numbers::Exact).expect("exact numbers have no range")
}

fn rfc8785(text: &str) -> Result<String, NumberOutOfRange> {
    canonical(text.as_bytes(), Numbers::Rfc8785).map(|(out, _)| out)
}

/// The suites of others in `tests/json`; its NOTICE names their sources.
mod suites {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/json").join(name)
    }

    /// The files of a folder by name.
    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        assert!(!files.is_empty());
        files
    }

    #[test]
    fn rfc8785_vectors() {
        // RFC 8785, 3.2.2
        let input = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
        let output = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(canonical(input.as_bytes(), Numbers::Rfc8785).unwrap().0, output);
    }

    #[test]
    fn rfc8785_files() {
        let folder = folder("jcs");
        for (name, input) in files(&folder.join("input")) {
            let output = fs::read_to_string(folder.join("output").join(&name)).unwrap();
            assert_eq!(canonical(&input, Numbers::Rfc8785).unwrap().0, output, "{name}");
        }
    }

    #[test]
    fn rfc8785_numbers() {
        // RFC 8785, appendix B
        for (bits, expected) in [
            (0x0000000000000000, "0"),
            (0x8000000000000000, "0"),
            (0x0000000000000001, "5e-324"),
            (0x8000000000000001, "-5e-324"),
            (0x7fefffffffffffff, "1.7976931348623157e+308"),
            (0xffefffffffffffff, "-1.7976931348623157e+308"),
            (0x4340000000000000, "9007199254740992"),
            (0xc340000000000000, "-9007199254740992"),
            (0x4430000000000000, "295147905179352830000"),
            (0x44b52d02c7e14af5, "9.999999999999997e+22"),
            (0x44b52d02c7e14af6, "1e+23"),
            (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
            (0x444b1ae4d6e2ef4e, "999999999999999700000"),
            (0x444b1ae4d6e2ef4f, "999999999999999900000"),
            (0x444b1ae4d6e2ef50, "1e+21"),
            (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
            (0x3eb0c6f7a0b5ed8d, "0.000001"),
            (0x41b3de4355555553, "333333333.3333332"),
            (0x41b3de4355555554, "333333333.33333325"),
            (0x41b3de4355555555, "333333333.3333333"),
            (0x41b3de4355555556, "333333333.3333334"),
            (0x41b3de4355555557, "333333333.33333343"),
            (0xbecbf647612f3696, "-0.0000033333333333333333"),
            (0x43143ff3c1cb0959, "1424953923781206.2"),
        ] {
            assert_eq!(rfc8785(&format!("{:e}", f64::from_bits(bits))).as_deref(), Ok(expected));
        }
    }

    /// 4 MB, which are not in the repository.
    #[test]
    #[ignore = "needs RPCGRAPH_CORPORA"]
    fn rfc8785_numbers_of_corpora() {
        let lines = fs::read_to_string(needed_corpora().join("rfc8785-jcs/es6testfile100k.txt")).unwrap();
        let mut count = 0;
        for line in lines.lines() {
            let (bits, expected) = line.split_once(',').unwrap();
            let double = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
            assert_eq!(rfc8785(&format!("{double:e}")).as_deref(), Ok(expected), "{line}");
            count += 1;
        }
        assert_eq!(count, 100_000);
    }

    fn outcome(text: &[u8]) -> &'static str {
        match parse(text) {
            Ok(value) if value.evidence().lone_surrogate => "lone surrogate",
            Ok(_) => "accepted",
            Err(error) if error.kind == ErrorKind::NotUtf8 => "not UTF-8",
            Err(_) => "rejected",
        }
    }

    #[test]
    fn json_test_suite() {
        let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let accepted = [
            "0",
            "-0",
            "-0.5e-05",
            "1E+2",
            " true\r\n",
            "\"\u{7f}\u{2028}\u{fffe}\"",
            r#""\u0000\/\ud83d\ude00""#,
            "[]",
            r#"{"":{"a":[1,[2,{}]]}}"#,
            "[1e99999,-1e-99999]",
            &nested,
        ];
        accepted.into_iter().for_each(|text| assert_eq!(outcome(text.as_bytes()), "accepted", "{text}"));
        for text in [
            r#""\uD800""#,
            r#""\uDC00""#,
            r#""\uDE00\uD83D""#,
            r#""\uD800\n""#,
            r#""\uD800\uD800x""#,
            r#"{"\uDFAA":0}"#,
        ] {
            assert_eq!(outcome(text.as_bytes()), "lone surrogate", "{text}");
        }
        for text in [
            "",
            " ",
            "+1",
            "-",
            "-01",
            "01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "0x1",
            "NaN",
            "Infinity",
            "1_000",
            "True",
            "nul",
            "nulll",
            "'a'",
            "\"a",
            "\"\t\"",
            r#""\x""#,
            r#""\u12""#,
            r#""\uqqqq""#,
            "\"\\",
            "[",
            "]",
            "[1",
            "[1,]",
            "[,1]",
            "[1,,2]",
            "[1 2]",
            "[1]]",
            "[1}",
            "{",
            "{]",
            "{\"a\"",
            "{\"a\":}",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1 \"b\":2}",
            "1 // one",
            "/**/1",
            "1 2",
            "\u{FEFF}1",
            "\u{a0}1",
            "[\u{c}]",
            "\0",
        ] {
            assert_eq!(outcome(text.as_bytes()), "rejected", "{text}");
        }
        for bytes in [&b"\"\xff\""[..], b"[\xe9]", b"\"\xed\xa0\x80\"", b"\"\xc0\xaf\"", b"\xff\xfe1\0", b"\"\xe2\x82"]
        {
            assert_eq!(outcome(bytes), "not UTF-8", "{bytes:?}");
        }

        let files = files(&folder("JSONTestSuite/test_parsing"));
        assert_eq!(files.len(), 318);
        for (name, text) in files {
            let outcome = outcome(&text);
            match name.get(..2) {
                Some("y_") => assert_eq!(outcome, "accepted", "{name}"),
                Some("n_") => assert!(matches!(outcome, "rejected" | "not UTF-8"), "{name}"),
                _ => assert_eq!(outcome, either_way(&name), "{name}"),
            }
        }
    }

    /// Returns the outcome for files that a parser may accept or reject.
    fn either_way(name: &str) -> &'static str {
        match name.trim_start_matches("i_").trim_end_matches(".json") {
            number if number.starts_with("number_") => "accepted",
            "structure_500_nested_arrays" => "accepted",
            "structure_UTF-8_BOM_empty_object" => "rejected",
            "object_key_lone_2nd_surrogate"
            | "string_1st_surrogate_but_2nd_missing"
            | "string_1st_valid_surrogate_2nd_invalid"
            | "string_incomplete_surrogate_and_escape_valid"
            | "string_incomplete_surrogate_pair"
            | "string_incomplete_surrogates_escape_valid"
            | "string_invalid_lonely_surrogate"
            | "string_invalid_surrogate"
            | "string_inverted_surrogates_U+1D11E"
            | "string_lone_second_surrogate" => "lone surrogate",
            // UTF-16 without a byte order mark is UTF-8 with many NULs, as long as it is ASCII.
            "string_UTF-16LE_with_BOM"
            | "string_UTF-8_invalid_sequence"
            | "string_UTF8_surrogate_U+D800"
            | "string_invalid_utf-8"
            | "string_iso_latin_1"
            | "string_lone_utf8_continuation_byte"
            | "string_not_in_unicode_range"
            | "string_overlong_sequence_2_bytes"
            | "string_overlong_sequence_6_bytes"
            | "string_overlong_sequence_6_bytes_null"
            | "string_truncated-utf-8"
            | "string_utf16BE_no_BOM"
            | "string_utf16LE_no_BOM" => "not UTF-8",
            _ => "not listed here",
        }
    }

    fn assert_transformed(text: &str, duplicate: bool, what: &str) {
        let value = parse(text.as_bytes()).unwrap();
        assert_eq!(value.evidence().duplicate_member, duplicate, "{what}");
        let (once, _) = exact(text);
        assert!(same_value(&value, &parse(once.as_bytes()).unwrap()), "{what}");
        assert!(rfc8785(text).is_ok(), "{what}");
    }

    #[test]
    fn transformed_files() {
        for (text, duplicate) in [
            ("[-0, 1.0, 1000000000000000000000, 1E6, 9007199254740993.0]", false),
            (r#"{"é":"NFC","e\u0301":"NFD","\ud83d\ude00":[null]}"#, false),
            (r#"{"a":1,"a":2}"#, true),
            (r#"{"a":1,"a":1}"#, true),
            (r#"["A\u0000B","\ud83d\ud83d"]"#, false),
        ] {
            assert_transformed(text, duplicate, text);
        }

        let folder = folder("JSONTestSuite/test_transform");
        for (name, text) in files(&folder) {
            if parse(&text).is_ok() {
                assert_transformed(std::str::from_utf8(&text).unwrap(), name.starts_with("object_same_key"), &name);
            }
        }
    }
}

fn same(a: &str, b: &str) -> bool {
    same_value(&parse(a.as_bytes()).unwrap(), &parse(b.as_bytes()).unwrap())
}

#[test]
fn values_compare_by_what_they_mean() {
    assert!(same(r#"{"a": 1, "b": [true, null, "x"]}"#, r#"{"b":[true,null,"\u0078"],"a":1.0e0}"#));
    assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#));
    assert!(!same(r#"{"a":1}"#, r#"{"b":1}"#));
    assert!(!same("9007199254740993", "9007199254740992"));
    assert!(!same("[1,2]", "[2,1]"));
    assert!(!same("[1]", "[1,2]"));
    assert!(!same("null", "false"));
    assert!(!same(r#""\ud800""#, r#""\ud801""#));
}

#[test]
fn members_are_ordered_by_utf16_code_unit() {
    // The example of RFC 8785, 3.2.3: the emoji, as D83D DE00, is before U+FB33.
    let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{FB33}\":3}";
    assert_eq!(exact(text), (expected.to_owned(), false));
    assert!(exact("{\"\u{D7FF}\":1,\"a\":\"\u{FB33}😀\"}").1);
    assert!(!exact("{\"\u{E000}\":1}").1);
    assert!(!exact(r#"{"a":{"😀":1}}"#).1);
    assert_eq!(exact(r#"{"\ude00":1,"\ud83d":2,"😀":3,"\u0061":4}"#).0, r#"{"a":4,"\ud83d":2,"😀":3,"\ude00":1}"#);
}

#[test]
fn only_what_must_be_escaped_is() {
    let mut out = String::new();
    write_str("\0\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \"\\/\u{7f}\u{2028}é😀", &mut out);
    assert_eq!(out, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\u{7f}\u{2028}é😀\"");
    assert_eq!(exact(r#""\u0000\/\u001F\u007f\u00e9""#), ("\"\\u0000/\\u001f\u{7f}é\"".to_owned(), true));
}

#[test]
fn lone_surrogates_keep_their_escape() {
    assert_eq!(exact(r#""a\uDEAD\n\"😀\uD83D""#), (r#""a\udead\n\"😀\ud83d""#.to_owned(), false));
    assert_eq!(exact(r#"{"\uD83D":1}"#), (r#"{"\ud83d":1}"#.to_owned(), false));
    assert_eq!(rfc8785(r#"["\uDEAD"]"#).as_deref(), Ok(r#"["\udead"]"#));
    let mut out = String::new();
    write_string(&Text::Utf16(vec![0xDFFF, 0xD83D, 0xDE00, 0x0A]), &mut out);
    assert_eq!(out, r#""\udfff😀\n""#);
    assert!(matches!(parse(br#""\ud800""#), Ok(Value::String(text)) if text.as_str().is_none()));
}

#[test]
fn the_last_of_duplicate_members_counts() {
    assert_eq!(exact(r#"{"a":1,"b":{"c":1,"\u0063":2},"a":3}"#), (r#"{"a":3,"b":{"c":2}}"#.to_owned(), true));
    let Ok(Value::Object(object)) = parse(br#"{"a":1,"b":2,"a":3}"#) else { panic!() };
    assert_eq!(object.members.iter().filter_map(|(name, _)| name.as_str()).collect::<String>(), "ba");
    assert_eq!(object.raw, r#"{"a":1,"b":2,"a":3}"#);
}

#[test]
fn exact_numbers_keep_their_digits_where_a_double_would_not() {
    for kept in [
        "9007199254740993",
        "-9007199254740993",
        "333333333.33333329",
        "0.1000000000000000055511151231257827",
        "0.10000000000000001",
        "1e400",
        "1E400",
        "-1E+400",
        "1e-400",
        "-1e-400",
        "4.9e-324",
        "123456789012345678901234567890",
        "1.7976931348623159e308",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "1E999999999999999999999999999999999999999999999999",
    ] {
        assert_eq!(exact(kept), (kept.to_owned(), false));
    }
    for (number, printed) in [
        ("0.1", "0.1"),
        ("1e23", "1e+23"),
        ("1E23", "1e+23"),
        ("100000000000000000000000", "1e+23"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("-0e99999999999999999999", "0"),
        ("0E-400", "0"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("5e-324", "5e-324"),
        ("0.0000001", "1e-7"),
        ("1e21", "1e+21"),
        ("100000000000000000000", "100000000000000000000"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740994.0", "9007199254740994"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("999999999999999", "999999999999999"),
        ("-1234567890123456", "-1234567890123456"),
    ] {
        assert_eq!(exact(number), (printed.to_owned(), true), "{number}");
        assert_eq!(rfc8785(number).as_deref(), Ok(printed), "{number}");
    }
}

#[test]
fn rfc8785_numbers_are_the_nearest_doubles() {
    for (number, printed) in [
        ("9007199254740993", "9007199254740992"),
        ("333333333.33333329", "333333333.3333333"),
        ("1e-400", "0"),
        ("-1e-400", "0"),
        ("4.9e-324", "5e-324"),
        ("1.7976931348623158e308", "1.7976931348623157e+308"),
        ("1e-99999999999999999999", "0"),
    ] {
        assert_eq!(rfc8785(number).as_deref(), Ok(printed), "{number}");
    }
    for number in ["1e400", "-1E400", "1e309", "1.7976931348623159e308", "1e99999999999999999999"] {
        assert_eq!(rfc8785(&format!("[{number}]")), Err(NumberOutOfRange(number.to_owned())));
    }
}

#[test]
fn the_deepest_nesting_is_handled_and_deeper_is_refused() {
    let nested =
        |open: &str, close: &str, depth: usize| [open.repeat(depth), "1".to_owned(), close.repeat(depth)].concat();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = nested(open, close, MAX_DEPTH);
        let value = parse(text.as_bytes()).unwrap();
        assert_eq!(exact(&text).0, text);
        assert!(same_value(&value.clone(), &value));
        assert!(format!("{value:?}").len() > MAX_DEPTH);

        for depth in [MAX_DEPTH + 1, 200_000] {
            let error = parse(nested(open, close, depth).as_bytes()).unwrap_err();
            assert_eq!((error.kind, error.offset), (ErrorKind::TooDeep, MAX_DEPTH * open.len()));
        }
        assert_eq!(parse(open.repeat(200_000).as_bytes()).unwrap_err().kind, ErrorKind::UnexpectedEnd);
    }
}

#[test]
fn an_object_may_have_many_members() {
    let members: String = (0..100_000).rev().map(|i| format!("\"{i:06}\":{i},")).collect();
    let text = format!("{{{members}\"050000\":null}}");
    let value = parse(text.as_bytes()).unwrap();
    assert!(value.evidence().duplicate_member);
    let Value::Object(object) = &value else { panic!() };
    assert_eq!(object.members.len(), 100_000);
    assert!(matches!(object.get("050000"), Some(Value::Null)));
    let (once, _) = exact(&text);
    assert!(once.starts_with(r#"{"000000":0,"000001":1,"#));
    assert!(same_value(&value, &parse(once.as_bytes()).unwrap()));
}

fn whitespace() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", " ", "\n", "\t\r\n "])
}

fn number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        "-?(0|[1-9])(\\.0{0,3}[0-9])?[eE][+-]?[0-9]{18,45}",
        any::<f64>()
            .prop_filter("JSON has finite numbers", |double| double.is_finite())
            .prop_map(|double| format!("{double:e}")),
        any::<i64>().prop_map(|integer| integer.to_string()),
    ]
}

/// The text of a string, from a small alphabet so that member names meet again.
fn string_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(vec![
            "a", "b", "é", "\u{7f}", "\u{FB33}", "😀", "\\u0061", "\\u0000", "\\u001F", "\\n", "\\\"", "\\\\", "\\/",
            "\\uD83D", "\\ude00", "\\uFB33",
        ])
        .prop_map(str::to_owned),
        1 => "[^\\p{Cc}\"\\\\]",
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn value_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        1 => select(vec!["null", "true", "false", "[]", "{ }"]).prop_map(str::to_owned),
        3 => number_text(),
        3 => string_text(),
    ];
    leaf.prop_recursive(5, 60, 6, |value| {
        let value = (whitespace(), value, whitespace())
            .prop_map(|(before, value, after)| format!("{before}{value}{after}"))
            .boxed();
        let member =
            (string_text(), whitespace(), value.clone()).prop_map(|(name, gap, value)| format!("{name}{gap}:{value}"));
        prop_oneof![
            prop::collection::vec(value, 1..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 1..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A decimal of few digits, so that equal ones are common.
fn small_decimal() -> impl Strategy<Value = (bool, u32, String, i32)> {
    (any::<bool>(), 0..30_u32, "[0-2]{0,2}", -3..4)
}

/// The value times 10⁵, in a type that holds it.
fn scaled((negative, whole, fraction, exponent): &(bool, u32, String, i32)) -> i128 {
    let mantissa: i128 = format!("{whole}{fraction}").parse().unwrap();
    let power = 5 + exponent - fraction.len() as i32;
    mantissa * 10_i128.pow(power as u32) * if *negative { -1 } else { 1 }
}

fn spelled((negative, whole, fraction, exponent): &(bool, u32, String, i32)) -> String {
    let sign = if *negative { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}e{exponent}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn anything_like_json_is_parsed_or_refused(
        pieces in prop::collection::vec(select(b"[[]]{{}}\"\"\":,\\\\u0d8e-+.E \n\x01\xc3\xa9tn".to_vec()), 0..24),
    ) {
        if let Err(error) = parse(&pieces) {
            prop_assert!(error.offset <= pieces.len());
        }
    }

    #[test]
    fn canonical_text_means_the_same_and_is_its_own_canonical_form(text in value_text()) {
        let value = parse(text.as_bytes()).unwrap();
        let (once, interoperable) = exact(&text);
        let again = parse(once.as_bytes()).unwrap();
        prop_assert!(same_value(&value, &again), "{}", once);
        prop_assert!(!again.evidence().duplicate_member);
        prop_assert!(!(interoperable && again.evidence().lone_surrogate));
        prop_assert_eq!(exact(&once), (once, interoperable));
        if let Ok(once) = rfc8785(&text) {
            prop_assert_eq!(rfc8785(&once), Ok(once));
        }
    }

    #[test]
    fn interoperable_text_is_the_same_by_rfc8785(text in value_text()) {
        let (once, interoperable) = exact(&text);
        if interoperable {
            prop_assert_eq!(rfc8785(&text), Ok(once));
        }
    }

    #[test]
    fn a_cut_text_has_its_error_within(text in value_text(), at: prop::sample::Index) {
        let cut = &text.as_bytes()[..at.index(text.len() + 1)];
        if let Err(error) = parse(cut) {
            prop_assert!(matches!(error.kind, ErrorKind::UnexpectedEnd | ErrorKind::NotUtf8 | ErrorKind::Empty), "{}", error);
            prop_assert!(error.offset <= cut.len());
        }
    }

    #[test]
    fn strings_are_decoded_as_serde_json_does(text in string_text()) {
        let Ok(Value::String(ours)) = parse(text.as_bytes()) else { panic!() };
        let theirs: Option<String> = serde_json::from_str(&text).ok();
        prop_assert_eq!(ours.as_str(), theirs.as_deref());
    }

    #[test]
    fn names_compare_as_their_code_units(a: String, b: String) {
        let order = Text::Unicode(a.as_str().into()).cmp_utf16(&Text::Unicode(b.as_str().into()));
        prop_assert_eq!(order, a.encode_utf16().cmp(b.encode_utf16()));
    }

    #[test]
    fn decimals_are_equal_as_integers_are(a in small_decimal(), b in small_decimal()) {
        let (decimal_a, decimal_b) = (Decimal::parse(&spelled(&a)).unwrap(), Decimal::parse(&spelled(&b)).unwrap());
        prop_assert_eq!(decimal_a == decimal_b, scaled(&a) == scaled(&b), "{} {}", spelled(&a), spelled(&b));
        prop_assert_eq!(decimal_a.is_integer(), scaled(&a) % 100_000 == 0);
        let plain = decimal_a.to_plain(20).unwrap();
        prop_assert_eq!(Decimal::parse(&plain), Some(decimal_a));
        prop_assert_eq!(decimal_b.to_plain(20) == Some(plain), scaled(&a) == scaled(&b));
    }
}
