//! Number formats: decimal point or comma, with or without thousands separators.

use super::super::row::Problem;
use super::settings::{DecimalMark, Delimiter};

#[derive(Debug, Default)]
pub(super) struct NumberSurvey {
    point: Option<String>,
    comma: Option<String>,
    either_comma: Option<String>,
    either_point: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberStyle {
    decimal: DecimalMark,
    has_marks: bool,
}

pub(super) fn is_missing(text: &str) -> bool {
    ["", "-", "null", "nan", "na", "n/a", "none", "#n/a"]
        .iter()
        .any(|nothing| text.eq_ignore_ascii_case(nothing))
}

pub(super) fn is_number(text: &str) -> bool {
    [DecimalMark::Point, DecimalMark::Comma].into_iter().any(|mark| parse(text, mark).is_some())
}

impl NumberSurvey {
    pub(super) fn add(&mut self, text: &str) {
        if !text.bytes().any(|byte| byte == b',' || byte == b'.') {
            return;
        }
        let text = split_multiplier(text).0;
        let (as_point, as_comma) = (parse(text, DecimalMark::Point), parse(text, DecimalMark::Comma));
        let place = match (as_point, as_comma) {
            (Some(_), None) => &mut self.point,
            (None, Some(_)) => &mut self.comma,
            (Some(_), Some(_)) if text.contains(',') => &mut self.either_comma,
            (Some(_), Some(_)) => &mut self.either_point,
            _ => return,
        };
        place.get_or_insert_with(|| text.to_owned());
    }
}

impl NumberStyle {
    pub(super) fn detect(
        seen: &NumberSurvey,
        given: Option<DecimalMark>,
        delimiter: Delimiter,
    ) -> Result<Self, Problem> {
        let option = "--decimal point or --decimal comma";
        let decimal = match (given, &seen.point, &seen.comma, &seen.either_comma) {
            (Some(decimal), ..) => decimal,
            (None, Some(point), Some(comma), _) => {
                let seen = format!("{point} has a decimal point, but {comma} has a decimal comma");
                return Err(Problem::ambiguous(seen, option));
            }
            (None, None, Some(_), _) => DecimalMark::Comma,
            (None, None, None, Some(number)) => {
                let seen = format!("it is unclear whether {number} has decimals or a thousands separator");
                return Err(Problem::ambiguous(seen, option));
            }
            // Files with semicolons usually have decimal commas, so 18.250 may be 18250.
            (None, None, None, None) if delimiter == Delimiter::Semicolon && seen.either_point.is_some() => {
                let number = seen.either_point.as_deref().unwrap_or_default();
                let seen = format!("it is unclear whether {number} has decimals or a thousands separator");
                return Err(Problem::ambiguous(seen, option));
            }
            (None, _, None, _) => DecimalMark::Point,
        };
        let marked = [&seen.point, &seen.comma, &seen.either_comma, &seen.either_point];
        Ok(Self { decimal, has_marks: marked.into_iter().any(Option::is_some) })
    }

    pub(super) fn parse(self, text: &str) -> Option<f64> {
        parse(text, self.decimal)
    }

    pub(super) const fn decimal_mark(self) -> char {
        match self.decimal {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        }
    }

    pub(super) fn to_volume(self, text: &str) -> Option<f64> {
        let (number, factor) = split_multiplier(text);
        self.parse(number).map(|number| number * factor)
    }

    pub(super) const fn describe(self) -> &'static str {
        match self.decimal {
            _ if !self.has_marks => "",
            DecimalMark::Point => "; decimal points",
            DecimalMark::Comma => "; decimal commas",
        }
    }
}

fn split_multiplier(text: &str) -> (&str, f64) {
    let units = [('K', 1e3), ('k', 1e3), ('M', 1e6), ('B', 1e9)];
    units.iter().find_map(|(unit, worth)| Some((text.strip_suffix(*unit)?, *worth))).unwrap_or((text, 1.0))
}

fn parse(text: &str, decimal: DecimalMark) -> Option<f64> {
    let (mark, group) = match decimal {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.,eE".contains(&byte)) {
        return None;
    }
    let (whole, decimals) = text.split_once(mark).map_or((text, ""), |(whole, decimals)| (whole, decimals));
    if decimals.contains([mark, group]) {
        return None;
    }
    let mut groups = whole.split(group);
    let first = groups.next().unwrap_or_default();
    let digits = first.trim_start_matches(['+', '-']);
    let rest: Vec<&str> = groups.collect();
    let are_groups = rest.iter().all(|one| one.len() == 3 && one.bytes().all(|byte| byte.is_ascii_digit()));
    let begins = (1..=3).contains(&digits.len()) && !digits.starts_with('0');
    let is_grouped = are_groups && begins;
    if !rest.is_empty() && !is_grouped {
        return None;
    }
    let plain = format!("{first}{}.{decimals}", rest.concat());
    let plain = if decimals.is_empty() { plain.trim_end_matches('.') } else { &plain };
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_style(numbers: &[&str]) -> Result<DecimalMark, ()> {
        let mut seen = NumberSurvey::default();
        for number in numbers {
            seen.add(number);
        }
        NumberStyle::detect(&seen, None, Delimiter::Comma).map(|style| style.decimal).map_err(drop)
    }

    #[test]
    fn one_unambiguous_number_determines_the_decimal_mark() {
        for (numbers, expected) in [
            (&["1.25", "1.234"][..], Ok(DecimalMark::Point)),
            (&["12", "-3"], Ok(DecimalMark::Point)),
            (&["1.234"], Ok(DecimalMark::Point)),
            (&["1,25", "1,234"], Ok(DecimalMark::Comma)),
            (&["0,123"], Ok(DecimalMark::Comma)),
            (&["1.234,5"], Ok(DecimalMark::Comma)),
            (&["1.234.567"], Ok(DecimalMark::Comma)),
            (&["1,234.5", "1,234"], Ok(DecimalMark::Point)),
            (&["1,234,567"], Ok(DecimalMark::Point)),
            (&["1,234", "5,678"], Err(())),
            (&["1,25", "1.25"], Err(())),
        ] {
            assert_eq!(detect_style(numbers), expected, "{numbers:?}");
        }
    }

    #[test]
    fn parses_numbers_exactly_or_rejects_them() {
        let (point, comma) = (
            NumberStyle { decimal: DecimalMark::Point, has_marks: true },
            NumberStyle { decimal: DecimalMark::Comma, has_marks: true },
        );
        for (text, as_point, as_comma) in [
            ("1.25", Some(1.25), None),
            ("1,25", None, Some(1.25)),
            ("1,234.5", Some(1_234.5), None),
            ("1.234,5", None, Some(1_234.5)),
            ("12,34,567", None, None),
            ("1e-3", Some(0.001), Some(0.001)),
            ("-4", Some(-4.0), Some(-4.0)),
            ("5.", Some(5.0), None),
            ("1e999", None, None),
            ("inf", None, None),
            ("1 234", None, None),
            ("", None, None),
        ] {
            assert_eq!((point.parse(text), comma.parse(text)), (as_point, as_comma), "{text}");
        }
        assert_eq!([point.to_volume("1.25M"), comma.to_volume("1,5K")], [Some(1_250_000.0), Some(1_500.0)]);
    }
}
