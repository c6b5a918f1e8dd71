//! Building blocks of hints: similar file names and shell quoting.

use candlewick_sdk::{escape_hidden, nearest_name};
use std::borrow::Cow;
use std::path::Path;

pub fn quote_for_shell(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=@%:,./".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

const MAX_SCANNED_FILES: usize = 1_000;
const MAX_LISTED_FILES: usize = 5;

/// Builds the start of a hint about a missing file. It suggests a similar name or lists the files in the folder.
pub(crate) fn suggest_nearby_files(missing: &Path, extensions: &[&str]) -> String {
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("the folder {} does not exist;", folder.display());
    }
    let name = if folder == Path::new(".") { "this folder".to_owned() } else { folder.display().to_string() };
    let is_meant = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_SCANNED_FILES);
    let files = entries.map(|entry| entry.path()).filter(|path| is_meant(path) && path.is_file());
    let mut names: Vec<String> =
        files.filter_map(|path| Some(escape_hidden(path.file_name()?.to_str()?).into_owned())).collect();
    names.sort_unstable();
    let missing = missing.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(near) = nearest_name(missing, names.iter().map(String::as_str)) {
        let near = if folder == Path::new(".") { near.into() } else { folder.join(near) };
        return format!("did you mean {}?", near.display());
    }
    let more = names.len().saturating_sub(MAX_LISTED_FILES);
    names.truncate(MAX_LISTED_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match names.as_slice() {
        [] => format!("{name} has no {} file;", extensions.join(" or ")),
        _ => format!("{name} has {}{more};", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_with_special_characters() {
        for (text, expected) in [
            ("BTCUSDT.P@1m", "BTCUSDT.P@1m"),
            ("data/my file.csv", "'data/my file.csv'"),
            ("Gold & Co", "'Gold & Co'"),
            ("o'clock", r"'o'\''clock'"),
            ("", "''"),
        ] {
            assert_eq!(quote_for_shell(text), expected);
        }
    }

    #[test]
    fn lists_files_by_extension_and_suggests_a_similar_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(suggest_nearby_files(&path("my.toml"), &["toml"]).ends_with(" has no toml file;"));
        for name in ["demo.toml", "bots.toml", "BTCUSDT_1m.csv"] {
            std::fs::write(path(name), "").unwrap();
        }
        let here = folder.path().display();
        for (missing, extensions, expected) in [
            ("other.toml", &["toml"][..], format!("{here} has bots.toml, demo.toml;")),
            ("demos.toml", &["toml"], format!("did you mean {here}/demo.toml?")),
            ("btcusdt_1m.csv", &["csv", "parquet"], format!("did you mean {here}/BTCUSDT_1m.csv?")),
            ("none/x.toml", &["toml"], format!("the folder {here}/none does not exist;")),
        ] {
            assert_eq!(suggest_nearby_files(&path(missing), extensions), expected, "{missing}");
        }
    }
}
