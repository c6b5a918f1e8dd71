//! Column delimiters and their detection.

use super::super::problem::Problem;
use super::columns;
use super::number;
use super::settings::{Delimiter, TableSettings};
use crate::csv::excerpt;
use std::borrow::Cow;

pub(super) fn cells(line: &str, delimiter: Delimiter) -> Vec<String> {
    let line = with_single_spaces(line.as_bytes(), delimiter);
    let mut builder = csv::ReaderBuilder::new();
    let builder = builder.has_headers(false).flexible(true).delimiter(delimiter.byte());
    let mut records = builder.from_reader(&*line).into_records();
    let record = records.next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|cell| cell.trim().to_owned()).collect()
}

pub(super) fn with_single_spaces(content: &[u8], delimiter: Delimiter) -> Cow<'_, [u8]> {
    if delimiter != Delimiter::Space {
        return Cow::Borrowed(content);
    }
    let mut single = Vec::with_capacity(content.len());
    for byte in content {
        let is_second = *byte == b' ' && matches!(single.last(), None | Some(b' ' | b'\n'));
        if matches!(byte, b'\r' | b'\n') && single.last() == Some(&b' ') {
            single.pop();
        }
        if !is_second {
            single.push(*byte);
        }
    }
    Cow::Owned(single)
}

pub(super) fn is_spaced(first: &str) -> bool {
    let cells = cells(first, Delimiter::Space);
    let numbers = cells.iter().filter(|cell| number::is_number(cell)).count();
    !first.contains([',', ';', '\t', '|']) && (columns::name_prices(&cells) || numbers >= 4)
}

pub(super) fn delimiter_of(first: &str, settings: &TableSettings) -> Result<Delimiter, Problem> {
    if let Some(delimiter) = settings.delimiter {
        return Ok(delimiter);
    }
    let fits = |delimiter: &Delimiter| {
        let cells = cells(first, *delimiter);
        match &settings.columns {
            Some(roles) => cells.len() == roles.0.len(),
            None => columns::name_prices(&cells),
        }
    };
    let found: Vec<Delimiter> = Delimiter::ALL.into_iter().filter(fits).collect();
    let most = || Delimiter::ALL.into_iter().rev().max_by_key(|delimiter| cells(first, *delimiter).len());
    match (found.as_slice(), &settings.columns) {
        ([only], _) => Ok(*only),
        ([], _) if is_spaced(first) => Ok(Delimiter::Space),
        ([], None) => Ok(most().unwrap_or(Delimiter::Comma)),
        ([], Some(roles)) => {
            let seen = format!(
                "--columns names {} columns, and nothing separates the first line, \"{}\", into as many",
                roles.0.len(),
                excerpt(first.as_bytes())
            );
            Err(Problem::unclear(seen, "--columns with as many names, - for each column that is left out"))
        }
        (_, _) => {
            let seen =
                format!("the first line, \"{}\", can be separated in two ways", excerpt(first.as_bytes()));
            Err(Problem::unclear(seen, "--delimiter, one of comma, semicolon, tab, bar, space"))
        }
    }
}
