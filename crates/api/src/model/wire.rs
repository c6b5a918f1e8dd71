//! How values are written: decimals as JSON numbers, moments as ISO 8601.

use candlewick_sdk::Millis;
use chrono::{DateTime, SecondsFormat, Utc};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::Serializer;
use serde::ser::Error;

/// A decimal as a JSON number: an integer where it is one, else the shortest float with its digits (exact up
/// to 15 of them).
pub(crate) fn number<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    match amount.to_i64().filter(|_| amount.fract().is_zero()) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(amount.to_string().parse().map_err(S::Error::custom)?),
    }
}

/// A moment as ISO 8601 in UTC with milliseconds.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands fields over like this
pub(crate) fn iso8601<S: Serializer>(moment: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    let text = DateTime::<Utc>::from_timestamp_millis(moment.get())
        .ok_or_else(|| S::Error::custom(format!("{moment} ms is outside the calendar")))?
        .to_rfc3339_opts(SecondsFormat::Millis, true);
    serializer.serialize_str(&text)
}

/// [`number`] or null.
#[allow(clippy::ref_option)] // serde hands fields over like this
pub(crate) fn optional_number<S: Serializer>(
    amount: &Option<Decimal>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match amount {
        Some(amount) => number(amount, serializer),
        None => serializer.serialize_none(),
    }
}

/// [`iso8601`] or null.
#[allow(clippy::ref_option)] // serde hands fields over like this
pub(crate) fn optional_iso8601<S: Serializer>(
    moment: &Option<Millis>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match moment {
        Some(moment) => iso8601(moment, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fields::Field;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn decimals_are_written_as_numbers_with_their_own_digits() {
        for (text, written) in
            [("10", "10"), ("10.00", "10"), ("0.10", "0.1"), ("-12.34", "-12.34"), ("0.00000001", "1e-8")]
        {
            let mut buffer = Vec::new();
            let mut serializer = serde_json::Serializer::new(&mut buffer);
            number(&text.parse().unwrap(), &mut serializer).unwrap();
            assert_eq!(String::from_utf8(buffer).unwrap(), written);
        }
    }

    proptest! {
        #[test]
        fn an_amount_of_up_to_fifteen_digits_survives_json(units in -999_999_999_999_999_i64..=999_999_999_999_999, scale in 0_u32..=8) {
            let amount = Decimal::new(units, scale);
            let mut buffer = Vec::new();
            number(&amount, &mut serde_json::Serializer::new(&mut buffer)).unwrap();
            let json: Value = serde_json::from_slice(&buffer).unwrap();
            prop_assert!(json.is_number());
            prop_assert_eq!(Decimal::from_value(&json), Some(amount));
        }

        #[test]
        fn a_moment_survives_iso_8601(milliseconds in -62_135_596_800_000_i64..253_402_300_800_000) {
            let mut buffer = Vec::new();
            iso8601(&Millis::new(milliseconds), &mut serde_json::Serializer::new(&mut buffer)).unwrap();
            let json: Value = serde_json::from_slice(&buffer).unwrap();
            prop_assert_eq!(Millis::from_value(&json), Some(Millis::new(milliseconds)));
        }

        #[test]
        fn no_text_or_number_from_outside_is_too_strange_to_read(text in ".*", exponent in "-?[0-9]{1,4}e-?[0-9]{1,12}", number in any::<f64>()) {
            for value in [Value::from(text), Value::from(exponent), Value::from(number)] {
                let _ = (Decimal::from_value(&value), f64::from_value(&value), u64::from_value(&value));
                let _ = Millis::from_value(&value);
            }
        }
    }

    #[test]
    fn moments_are_written_in_utc_with_milliseconds() {
        let write = |ms| {
            let mut buffer = Vec::new();
            let written = iso8601(&Millis::new(ms), &mut serde_json::Serializer::new(&mut buffer));
            written.map(|()| String::from_utf8(buffer).unwrap()).map_err(|e| e.to_string())
        };
        assert_eq!(write(1_795_176_000_007).as_deref(), Ok("\"2026-11-20T12:00:00.007Z\""));
        assert!(write(i64::MAX).is_err());
    }
}
