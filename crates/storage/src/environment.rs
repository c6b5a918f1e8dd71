//! Object storage settings from environment variables: server, credentials and timeouts.

use crate::{ObjectUrl, StorageError};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use std::net::IpAddr;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_RETRIES: usize = 24;
const RETRY_TIMEOUT: Duration = Duration::from_secs(90);
/// Environment variables with the URL of a server other than Amazon's, in order of precedence.
const ENDPOINT_VARIABLES: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
/// Environment variables whose values must never appear in a message.
const SECRET_NAMES: [&str; 3] = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"];

#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: Vec<(String, String)>,
}

impl Environment {
    pub(crate) fn from_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let ours = |(name, value): &(String, String)| name.starts_with("AWS_") && !value.is_empty();
        Self { variables: std::env::vars_os().filter_map(text).filter(ours).collect() }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn redact_secrets(&self, text: &str) -> String {
        let secrets = SECRET_NAMES.iter().filter_map(|name| self.get(name)).filter(|value| value.len() > 3);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }

    pub(crate) fn open_bucket(&self, url: &ObjectUrl) -> Result<AmazonS3, StorageError> {
        let endpoint = ENDPOINT_VARIABLES.iter().find_map(|name| Some((*name, self.get(name)?)));
        let mut options =
            ClientOptions::new().with_timeout(REQUEST_TIMEOUT).with_connect_timeout(CONNECT_TIMEOUT);
        if let Some((variable, endpoint)) = endpoint {
            let allowed = self.get("AWS_ALLOW_HTTP").is_some_and(|value| value == "true");
            let is_plain = check_endpoint(endpoint, allowed)
                .map_err(|problem| StorageError::InvalidSetting { variable, problem })?;
            options = options.with_allow_http(is_plain);
        }
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        };
        let retry = RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_TIMEOUT };
        let mut builder = AmazonS3Builder::new().with_client_options(options).with_retry(retry);
        for (name, value) in &self.variables {
            // Variables that do not name an S3 setting belong to other programs.
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        let built = builder.with_bucket_name(url.bucket()).build();
        built.map_err(|error| StorageError::Failed {
            url: url.to_string(),
            problem: self.redact_secrets(&error.to_string()),
        })
    }
}

/// Returns whether `endpoint` is unencrypted. Fails if it is unencrypted, but neither local nor explicitly allowed.
fn check_endpoint(endpoint: &str, may_be_plain: bool) -> Result<bool, String> {
    let (scheme, rest) = endpoint.split_once("://").ok_or("the URL must begin with https:// or http://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if host.contains('@') {
        return Err(
            "the URL contains a password: use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead".to_owned()
        );
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_here = name == "localhost" || address.is_ok_and(|address| address.is_loopback());
    match scheme {
        "https" => Ok(false),
        "http" if is_here || may_be_plain => Ok(true),
        "http" => {
            Err(format!("{endpoint} is not encrypted: use https, or allow http with AWS_ALLOW_HTTP=true"))
        }
        _ => Err("the URL must begin with https:// or http://".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_plain_endpoint_only_locally_or_with_permission() {
        for (endpoint, may_be_plain, expected) in [
            ("https://s3.example.com", false, Some(false)),
            ("http://127.0.0.1:5000", false, Some(true)),
            ("http://localhost:5000/x", false, Some(true)),
            ("http://[::1]:5000", false, Some(true)),
            ("http://10.0.0.1:9000", false, None),
            ("http://127.example.com", false, None),
            ("http://10.0.0.1:9000", true, Some(true)),
            ("http://localhost.example.com", false, None),
            ("https://user:secret@host", false, None),
            ("host:9000", true, None),
            ("ftp://host", true, None),
        ] {
            assert_eq!(check_endpoint(endpoint, may_be_plain).ok(), expected, "{endpoint}");
        }
        let said = check_endpoint("https://user:secret@host", false).unwrap_err();
        assert!(!said.contains("secret@"), "{said}");
    }

    #[test]
    fn removes_credentials_from_messages() {
        let secrets = SECRET_NAMES.into_iter().zip(["hunter22", "tokentoken", "AKIA0"]);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let environment = Environment { variables: secrets.map(owned).collect() };
        let shown = environment.redact_secrets("a hunter22 b tokentoken c AKIA0 d");
        assert_eq!(shown, "a *** b *** c *** d");
    }
}
