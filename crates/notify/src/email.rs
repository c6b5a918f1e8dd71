//! E-mail via SMTP (RFC 5321), encrypted unless the server runs on this machine.

use crate::alert::Message;
use crate::channel::{EmailSettings, Endpoint, MessageSender};
use crate::http::{ChannelError, Failure, install_tls_provider, is_loopback, root_cause};
use crate::worker::DELIVERY_TIMEOUT;
use lettre::address::Envelope;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use url::Url;

pub(crate) struct Email {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    head: MessageBuilder,
    domain: String,
    from: Address,
    to: Vec<Address>,
    progress: Mutex<DeliveryProgress>,
}

/// Delivery state of a message, with the recipients that a retry must skip.
#[derive(Default)]
struct DeliveryProgress {
    id: String,
    done: BTreeSet<usize>,
    is_accepted: bool,
}

impl Email {
    pub(crate) fn new(endpoint: &Endpoint, mail: &EmailSettings) -> Result<Self, ChannelError> {
        let from = parse_mailbox("from", &mail.from)?;
        let (domain, sender) = (from.email.domain().to_owned(), from.email.clone());
        let mut head = lettre::Message::builder().from(from);
        if mail.to.is_empty() {
            return Err(ChannelError::Mailbox { problem: "to: no recipients".to_owned() });
        }
        let mut to = Vec::new();
        for text in &mail.to {
            let mailbox = parse_mailbox("to", text)?;
            to.push(mailbox.email.clone());
            head = head.to(mailbox);
        }
        let (transport, progress) = (build_transport(endpoint, mail.user.as_deref())?, Mutex::default());
        Ok(Self { transport, head, domain, from: sender, to, progress })
    }

    /// Returns whether the server's greeting says that it refuses all mail (RFC 5321, section 3.1, and RFC 7504).
    async fn server_rejects_all_mail(&self, error: &SmtpError) -> bool {
        let is_refusal = |error: &SmtpError| has_code(error, &["521", "554"]);
        is_refusal(error) && self.transport.test_connection().await.is_err_and(|error| is_refusal(&error))
    }

    fn lock_progress(&self, id: &str) -> MutexGuard<'_, DeliveryProgress> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.id != id {
            *progress = DeliveryProgress { id: id.to_owned(), ..DeliveryProgress::default() };
        }
        progress
    }
}

fn parse_mailbox(key: &str, text: &str) -> Result<Mailbox, ChannelError> {
    let problem = |error| ChannelError::Mailbox {
        problem: format!("{key}: {text:?} is not an e-mail address: {error}"),
    };
    text.parse().map_err(problem)
}

fn build_transport(
    endpoint: &Endpoint,
    user: Option<&str>,
) -> Result<AsyncSmtpTransport<Tokio1Executor>, ChannelError> {
    install_tls_provider();
    let wrong = || {
        ChannelError::invalid_address("use smtps://HOST, or smtp://HOST for STARTTLS, optionally with a port")
    };
    let url = Url::parse(endpoint.url.expose()).map_err(|_| wrong())?;
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
    if !url.username().is_empty() || url.password().is_some() || !matches!(url.path(), "" | "/") {
        return Err(ChannelError::invalid_address(
            "the address must contain only a host and a port: set user, and set the password as the secret",
        ));
    }
    let tls = || {
        let tls = TlsParameters::new(host.trim_matches(['[', ']']).to_owned());
        tls.map_err(|error| ChannelError::invalid_address(format!("cannot set up TLS for e-mail: {error}")))
    };
    // The URL parser does not know these schemes, and returns IP addresses as domain names.
    let is_here =
        is_loopback(&url) || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let (port, tls) = match url.scheme() {
        "smtps" => (465, Tls::Wrapper(tls()?)),
        "smtp" if is_here => (25, Tls::None),
        "smtp" => (587, Tls::Required(tls()?)),
        _ => return Err(wrong()),
    };
    let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host);
    let builder = builder.port(url.port().unwrap_or(port)).tls(tls).timeout(Some(DELIVERY_TIMEOUT));
    Ok(match (user, &endpoint.secret) {
        (Some(user), Some(secret)) => {
            builder.credentials(Credentials::new(user.to_owned(), secret.expose().to_owned())).build()
        }
        (None, None) => builder.build(),
        (Some(_), None) => {
            return Err(ChannelError::invalid_secret("`user` is set without a password: set a secret"));
        }
        (None, Some(_)) => {
            return Err(ChannelError::invalid_secret("a password is set without a user name: set `user`"));
        }
    })
}

#[async_trait::async_trait]
impl MessageSender for Email {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        // All attempts have the same id, so that duplicates are recognized.
        let mail = self.head.clone().subject(message.title()).header(ContentType::TEXT_PLAIN);
        let mail = mail.message_id(Some(format!("<{}@{}>", message.id, self.domain))).body(message.body());
        let mail = mail.map_err(|error| Failure::Permanent { reason: error.to_string() })?.formatted();
        let (mut later, mut refused) = (None, None);
        // One envelope per recipient: a rejected mailbox does not affect others.
        for (number, to) in self.to.iter().enumerate() {
            if self.lock_progress(&message.id).done.contains(&number) {
                continue;
            }
            let envelope = Envelope::new(Some(self.from.clone()), vec![to.clone()]);
            let envelope = envelope.map_err(|error| Failure::Permanent { reason: error.to_string() })?;
            match self.transport.send_raw(&envelope, &mail).await {
                Ok(_) => {
                    let mut progress = self.lock_progress(&message.id);
                    progress.is_accepted = true;
                    progress.done.insert(number);
                }
                Err(error) if self.server_rejects_all_mail(&error).await => {
                    let code = error.status().map_or(String::new(), |code| format!(" {code}"));
                    return Err(Failure::try_later(format!("the mail server rejects all mail{code}")));
                }
                Err(error) if error.is_permanent() && !are_credentials_rejected(&error) => {
                    self.lock_progress(&message.id).done.insert(number);
                    tracing::warn!(reason = describe_error(&error), "a mailbox was rejected");
                    refused = Some(describe_error(&error));
                }
                Err(error) => later = Some(Failure::try_later(describe_error(&error))),
            }
        }
        match (later, refused) {
            (Some(failure), _) => Err(failure),
            (None, Some(reason)) if !self.lock_progress(&message.id).is_accepted => {
                Err(Failure::Permanent { reason })
            }
            (None, _) => Ok(()),
        }
    }
}

/// Returns whether the credentials were rejected (RFC 4954, section 6).
fn are_credentials_rejected(error: &SmtpError) -> bool {
    has_code(error, &["530", "534", "535", "538"])
}

fn has_code(error: &SmtpError, codes: &[&str]) -> bool {
    error.status().is_some_and(|code| codes.contains(&code.to_string().as_str()))
}

/// Describes an error without quoting the server's text.
fn describe_error(error: &SmtpError) -> String {
    if let Some(code) = error.status() {
        return format!("the mail server responded {code}");
    }
    root_cause(error).to_string()
}
