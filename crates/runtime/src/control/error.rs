//! Errors when sending or receiving orders.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("no bot listens at {}", path.display())]
    NoBotListens { path: PathBuf },
    #[error("{} belongs to somebody else: only the user who runs the bot can give it orders", path.display())]
    OtherOwner { path: PathBuf },
    #[error("another bot listens at {}: stop it, or set control.socket", path.display())]
    SocketInUse { path: PathBuf },
    #[error("{} is in the way: it is no socket; move it away, or set control.socket", path.display())]
    NotASocket { path: PathBuf },
    #[error("{} is too long for a socket, which may have {most} bytes: set control.socket", path.display())]
    PathTooLong { path: PathBuf, most: usize },
    #[error("the socket {} cannot be made", path.display())]
    SocketNotMade { path: PathBuf, source: io::Error },
    /// The order was sent without a response, so it may have been accepted. Check the status.
    #[error("the bot at {} was reached, but did not answer: {problem}", path.display())]
    NoAnswer { path: PathBuf, problem: String },
    #[error("the order has {bytes} bytes, and at most {most} are taken: shorten the reason")]
    ReasonTooLong { bytes: usize, most: usize },
    #[error("this system has no sockets in the file system: a run can only be halted by its HALT file")]
    NoSocketsHere,
}
