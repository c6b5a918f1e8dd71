//! Quoting of words in commands that messages show for pasting.

use std::borrow::Cow;

pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=@%:,./".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_stands_in_quotes() {
        for (text, expected) in [
            ("BTCUSDT.P@1m", "BTCUSDT.P@1m"),
            ("data/my file.csv", "'data/my file.csv'"),
            ("Gold & Co", "'Gold & Co'"),
            ("o'clock", r"'o'\''clock'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }
}
