//! Object addresses: `s3://BUCKET/KEY`, or `file:///FOLDER/FILE` for a local folder.

use crate::StorageError;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUrl {
    /// S3 bucket; empty for a local folder.
    bucket: String,
    /// Key in the bucket, or path of the local file, without leading or trailing `/`.
    key: String,
}

impl ObjectUrl {
    pub fn parse(text: &str) -> Result<Self, StorageError> {
        let invalid =
            |problem: &str| StorageError::InvalidUrl { url: text.to_owned(), problem: problem.to_owned() };
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(invalid("the address must begin with s3:// or file://"));
        };
        if rest.contains(['?', '#']) {
            return Err(invalid("the address must not contain ? or #"));
        }
        let whole = |path: &str| {
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            if parts.iter().any(|part| matches!(*part, "." | "..")) {
                return Err(invalid("the path must not contain . or .. as a segment"));
            }
            if path.chars().any(char::is_control) {
                return Err(invalid("the path must not contain control characters"));
            }
            Ok(parts.join("/"))
        };
        match scheme.to_ascii_lowercase().as_str() {
            "s3" => {
                let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
                let is_name =
                    |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
                if bucket.is_empty() || !bucket.chars().all(is_name) {
                    return Err(invalid("s3:// needs a bucket name of letters, digits, dots, hyphens or _"));
                }
                Ok(Self { bucket: bucket.to_owned(), key: whole(key)? })
            }
            "file" => {
                let Some(path) = rest.strip_prefix('/') else {
                    return Err(invalid("file:// needs an absolute path, such as file:///shared/sweep"));
                };
                Ok(Self { bucket: String::new(), key: whole(path)? })
            }
            _ => Err(invalid("only s3:// and file:// are supported; most object stores accept s3://")),
        }
    }

    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let key = if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) };
        Self { key, ..self.clone() }
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bucket.as_str(), self.key.as_str()) {
            ("", key) => write!(f, "file:///{key}"),
            (bucket, "") => write!(f, "s3://{bucket}"),
            (bucket, key) => write!(f, "s3://{bucket}/{key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_round_trip() {
        for (text, bucket, key, written) in [
            ("s3://b/a/plan.json", "b", "a/plan.json", "s3://b/a/plan.json"),
            ("S3://b//a/", "b", "a", "s3://b/a"),
            ("s3://b", "b", "", "s3://b"),
            ("file:///tmp/x y/z", "", "tmp/x y/z", "file:///tmp/x y/z"),
        ] {
            let url = ObjectUrl::parse(text).unwrap();
            assert_eq!((url.bucket(), url.key(), url.to_string().as_str()), (bucket, key, written));
        }
        let folder = ObjectUrl::parse("s3://b").unwrap();
        assert_eq!(folder.join("x").join("y").to_string(), "s3://b/x/y");
        assert_eq!(folder.join("x").join("y").name(), "y");
    }

    #[test]
    fn rejects_unsupported_urls() {
        for text in [
            "s3://",
            "s3:///x",
            "s3://a b/c",
            "s3://user:secret@host/c",
            "s3://b/../c",
            "s3://b/c?x=1",
            "s3://b/c\n",
            "file://host/x",
            "gs://b/c",
            "https://host/x",
            "plain/path",
        ] {
            assert!(ObjectUrl::parse(text).is_err(), "{text}");
        }
    }
}
