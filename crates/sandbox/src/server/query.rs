//! Query parameters, with messages for missing and invalid ones.

use std::collections::BTreeMap;
use std::str::FromStr;

pub(crate) type Parameters = BTreeMap<String, String>;

pub(crate) fn read_or<T: FromStr>(parameters: &Parameters, name: &str, default: T) -> Result<T, String> {
    match parameters.get(name) {
        None => Ok(default),
        Some(text) => parse(name, text),
    }
}

pub(crate) fn read<T: FromStr>(parameters: &Parameters, name: &str) -> Result<T, String> {
    let text = parameters.get(name).filter(|text| !text.is_empty());
    parse(name, text.ok_or_else(|| format!("{name} is required"))?)
}

fn parse<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is not readable"))
}
