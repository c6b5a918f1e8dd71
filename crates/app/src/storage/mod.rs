//! Files in object storage, named by paths such as `s3://BUCKET/KEY` and `file:///FOLDER/FILE`.

#[cfg_attr(not(feature = "object-storage"), path = "without.rs")]
mod objects;

pub(crate) use objects::RemoteFolder;
pub use objects::{exists, local_copy, put_file, read};

use crate::error::AppError;
use std::borrow::Cow;
use std::path::Path;

pub fn is_storage_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    // A single letter before the colon is a Windows drive, not a scheme.
    scheme.is_some_and(|scheme| scheme.len() > 1 && scheme.chars().all(|one| one.is_ascii_alphanumeric()))
}

pub fn local_path<'a>(path: &'a Path, copies: &Path) -> Result<Cow<'a, Path>, AppError> {
    Ok(if is_storage_url(path) { Cow::Owned(local_copy(path, copies)?) } else { Cow::Borrowed(path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_addresses_from_paths() {
        for (text, expected) in [
            ("s3://bucket/plan.json", true),
            ("file:///tmp/x", true),
            ("gs://bucket/x", true),
            ("sweep", false),
            ("/tmp/s3:/x", false),
            ("a b://x", false),
            ("C://x", false),
        ] {
            assert_eq!(is_storage_url(Path::new(text)), expected, "{text}");
        }
    }
}
