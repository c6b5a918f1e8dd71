//! Server that receives control orders for a run through a Unix socket.

use super::client::{
    LINE_TIMEOUT, LineError, MAX_FOLLOWERS, is_follow_request, read_line, stream_events, write_line,
};
use super::order::{MAX_LINE_BYTES, OrderMessage};
use super::{ControlAnswer, ControlError, ControlPaths, ControlRequest, HaltFile};
use crate::events::EventFeed;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::BufReader;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const MAX_CONNECTIONS: usize = 8;
const MAX_ORDERS_PER_CONNECTION: usize = 64;
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Server for the socket on which a run receives control orders.
/// The caller must hold the journal's lease, so that only one process per journal listens.
#[derive(Debug)]
pub struct ControlServer {
    listener: UnixListener,
    file: SocketFile,
    halt_file: HaltFile,
    feed: EventFeed,
}

impl ControlServer {
    pub async fn bind(paths: &ControlPaths) -> Result<Self, ControlError> {
        let (listener, file) = SocketFile::create(&paths.socket).await?;
        Ok(Self { listener, file, halt_file: paths.halt_file.clone(), feed: EventFeed::default() })
    }

    #[must_use]
    pub fn with_events(self, feed: EventFeed) -> Self {
        Self { feed, ..self }
    }

    pub async fn serve(self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let Self { listener, file, halt_file, feed } = self;
        let mut stop = std::pin::pin!(stop);
        // Followers do not count towards the connection limit for orders. Followers have their own limit.
        let (mut connections, mut followers) = (JoinSet::new(), JoinSet::new());
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(conversed) = connections.join_next() => {
                    let Ok(Some(stream)) = conversed else { continue };
                    if followers.len() < MAX_FOLLOWERS {
                        followers.spawn(stream_events(stream, feed.follow()));
                    }
                }
                Some(_) = followers.join_next() => {}
                accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(serve_connection(stream, orders.clone(), halt_file.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a control connection could not be accepted");
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                },
            }
        }
        drop(file);
        // Gives followers time to read the run's last event.
        drop(feed);
        let read = async { while followers.join_next().await.is_some() {} };
        drop(tokio::time::timeout(LINE_TIMEOUT, read).await);
    }
}

async fn serve_connection(
    mut stream: UnixStream,
    orders: mpsc::Sender<ControlRequest>,
    halt_file: HaltFile,
) -> Option<UnixStream> {
    let (reader, mut writer) = stream.split();
    let mut reader = BufReader::new(reader);
    for _ in 0..MAX_ORDERS_PER_CONNECTION {
        let (answer, is_over) = match read_line(&mut reader, LINE_TIMEOUT).await {
            Ok(line) if is_follow_request(&line) => return Some(stream),
            Ok(line) => (execute(&line, &orders, &halt_file).await, false),
            Err(LineError::End | LineError::Broken(_)) => return None,
            Err(LineError::TooLong) => {
                (refuse(format!("the command is longer than {MAX_LINE_BYTES} bytes. Shorten it")), true)
            }
            Err(LineError::Late) => (refuse(format!("no command within {} s", LINE_TIMEOUT.as_secs())), true),
        };
        if write_line(&mut writer, &answer).await.is_err() || is_over {
            return None;
        }
    }
    None
}

async fn execute(line: &[u8], orders: &mpsc::Sender<ControlRequest>, halt_file: &HaltFile) -> ControlAnswer {
    let OrderMessage { order, token } = match serde_json::from_slice(line) {
        Ok(order) => order,
        Err(error) => return refuse(format!("invalid command: {error}")),
    };
    match halt_file.refusal(&order) {
        Some(refusal) => refusal,
        None => order.deliver(token, orders).await,
    }
}

const fn refuse(problem: String) -> ControlAnswer {
    ControlAnswer::Refused { problem }
}

/// Maximum length of the socket path in bytes. Systems allow 103 to 107, but the temporary path is a few bytes longer.
const MAX_PATH_BYTES: usize = 88;
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// A socket file, identified by device and inode. Dropping this value removes the file unless it was replaced.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    place: (u64, u64),
}

impl SocketFile {
    /// Creates the socket. Replaces the socket of a dead process, but not a socket in use.
    pub(super) async fn create(path: &Path) -> Result<(UnixListener, Self), ControlError> {
        if path.as_os_str().len() > MAX_PATH_BYTES {
            return Err(ControlError::PathTooLong { path: path.to_owned(), most: MAX_PATH_BYTES });
        }
        let failed = |source| ControlError::SocketNotMade { path: path.to_owned(), source };
        remove_stale_socket(path).await?;
        let (listener, place) = bind_privately(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ControlError::SocketInUse { path: path.to_owned() },
            _ => failed(error),
        })?;
        Ok((listener, Self { path: path.to_owned(), place }))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| file_id(&found) == self.place) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

async fn remove_stale_socket(path: &Path) -> Result<(), ControlError> {
    let failed = |source| ControlError::SocketNotMade { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ControlError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    match tokio::time::timeout(PROBE_TIMEOUT, UnixStream::connect(path)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(ControlError::OtherOwner { path: path.to_owned() })
        }
        // Another process listens on the socket, even if that process is too busy to accept connections.
        Ok(_) | Err(_) => Err(ControlError::SocketInUse { path: path.to_owned() }),
    }
}

/// Binds in a private folder, then links to `path`. Other users can never open the socket, whatever the umask.
fn bind_privately(path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let hidden = folder.join("s");
    // A crashed process with the same process id may have left these files.
    let _ = fs::remove_file(&hidden);
    let _ = fs::remove_dir(&folder);
    DirBuilder::new().mode(0o700).create(&folder)?;
    let bound = UnixListener::bind(&hidden).and_then(|listener| {
        fs::set_permissions(&hidden, Permissions::from_mode(0o600))?;
        let place = file_id(&fs::symlink_metadata(&hidden)?);
        // A rename could replace an existing file, but a link never does.
        fs::hard_link(&hidden, path)?;
        Ok((listener, place))
    });
    let _ = fs::remove_file(&hidden);
    let _ = fs::remove_dir(&folder);
    bound
}

fn file_id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{ControlOrder, RunState, send_order};
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    struct Stage {
        paths: ControlPaths,
        _folder: TempDir,
        stop: oneshot::Sender<()>,
        server: JoinHandle<()>,
        taken_orders: JoinHandle<Vec<ControlOrder>>,
    }

    fn state(open: usize) -> ControlAnswer {
        let state = RunState { open, ..RunState::default() };
        ControlAnswer::Done { state: Box::new(state) }
    }

    impl Stage {
        async fn set() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = ControlPaths::for_journal(&folder.path().join("run.db"));
            let (stop, stopped) = oneshot::channel::<()>();
            let (sender, mut orders) = mpsc::channel::<ControlRequest>(1);
            let server = ControlServer::bind(&paths).await.unwrap();
            let server = tokio::spawn(server.serve(sender, async {
                let _ = stopped.await;
            }));
            let taken_orders = tokio::spawn(async move {
                let mut taken_orders = Vec::new();
                while let Some(ControlRequest { order, answer, .. }) = orders.recv().await {
                    taken_orders.push(order);
                    let _ = answer.send(state(taken_orders.len()));
                }
                taken_orders
            });
            Self { paths, _folder: folder, stop, server, taken_orders }
        }

        fn socket(&self) -> &Path {
            &self.paths.socket
        }

        async fn send(&self, order: &ControlOrder) -> Result<ControlAnswer, ControlError> {
            send_order(self.socket(), order, None).await
        }

        async fn say(&self, text: &str) -> String {
            let mut stream = UnixStream::connect(self.socket()).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            // The server closes the connection once it has read its maximum, so this call may fail.
            let _ = stream.shutdown().await;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        }

        async fn end(self) -> Vec<ControlOrder> {
            self.stop.send(()).unwrap();
            self.server.await.unwrap();
            assert!(!self.paths.socket.exists(), "a server that ends removes its socket");
            self.taken_orders.await.unwrap()
        }
    }

    #[tokio::test]
    async fn forwards_orders_in_turn_and_returns_answers() {
        let stage = Stage::set().await;
        let answers = stage.say("{\"order\":\"status\"}\n{\"order\":\"halt\",\"reason\":\"news\"}").await;
        let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(answers.collect::<Vec<ControlAnswer>>(), [state(1), state(2)]);
        assert_eq!(stage.send(&ControlOrder::Resume).await.unwrap(), state(3));
        let halt = ControlOrder::Halt { reason: "news".to_owned() };
        assert_eq!(stage.end().await, [ControlOrder::Status, halt, ControlOrder::Resume]);
    }

    #[tokio::test]
    async fn rejects_invalid_or_long_orders_and_accepts_the_next() {
        let stage = Stage::set().await;
        for garbage in ["hello\n", "\n", "{\"order\":\"open\"}\n", "\u{0}\u{1b}[2J\n", "[1,2", "{}"] {
            let answer = stage.say(garbage).await;
            let is_refused = answer.contains("refused") && answer.contains("invalid command");
            assert!(is_refused, "{garbage:?}: {answer}");
        }
        let long = format!("{{\"order\":\"halt\",\"reason\":\"{}\"}}\n", "x".repeat(MAX_LINE_BYTES));
        let mut stream = UnixStream::connect(stage.socket()).await.unwrap();
        stream.write_all(long.as_bytes()).await.unwrap();
        let mut answer = [0; 512];
        let length = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(answer.contains("refused") && answer.contains("longer than 4096 bytes"), "{answer}");
        let refused = stage.send(&ControlOrder::Halt { reason: "x".repeat(MAX_LINE_BYTES) }).await;
        assert!(matches!(refused, Err(ControlError::ReasonTooLong { .. })), "{refused:?}");
        assert_eq!(stage.send(&ControlOrder::Status).await.unwrap(), state(1));
        assert_eq!(stage.end().await, [ControlOrder::Status]);
    }

    #[tokio::test]
    async fn silent_client_does_not_block_others() {
        let stage = Stage::set().await;
        let _silent = UnixStream::connect(stage.socket()).await.unwrap();
        assert_eq!(stage.send(&ControlOrder::Status).await.unwrap(), state(1));
        assert_eq!(stage.end().await, [ControlOrder::Status]);
    }

    #[tokio::test(start_paused = true)]
    async fn excess_connections_wait_until_silent_ones_time_out() {
        let stage = Stage::set().await;
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            silent.push(UnixStream::connect(stage.socket()).await.unwrap());
        }
        let before = tokio::time::Instant::now();
        assert_eq!(stage.send(&ControlOrder::Status).await.unwrap(), state(1));
        assert!(before.elapsed() >= LINE_TIMEOUT, "{:?}", before.elapsed());
        let mut text = String::new();
        silent[0].read_to_string(&mut text).await.unwrap();
        assert!(text.contains("no command within 5 s"), "{text}");
        assert_eq!(stage.end().await, [ControlOrder::Status]);
    }

    #[tokio::test]
    async fn rejects_resume_while_the_halt_file_exists() {
        let stage = Stage::set().await;
        stage.paths.halt_file.create("news").unwrap();
        let refused = stage.send(&ControlOrder::Resume).await.unwrap();
        let ControlAnswer::Refused { problem } = &refused else { panic!("{refused:?}") };
        assert!(problem.contains("run.db.HALT"), "{problem}");
        stage.paths.halt_file.remove().unwrap();
        assert_eq!(stage.send(&ControlOrder::Resume).await.unwrap(), state(1));
        assert_eq!(stage.end().await, [ControlOrder::Resume]);
    }

    #[tokio::test]
    async fn dropped_server_removes_its_socket() {
        let stage = Stage::set().await;
        stage.server.abort();
        assert!(stage.server.await.unwrap_err().is_cancelled());
        assert!(!stage.paths.socket.exists());
    }

    fn folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        (folder, path)
    }

    async fn refusal(path: &Path) -> Option<ControlError> {
        SocketFile::create(path).await.err()
    }

    #[tokio::test]
    async fn only_the_owner_can_open_the_socket() {
        let (folder, path) = folder();
        let (_listener, file) = SocketFile::create(&path).await.unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn replaces_a_dead_socket_but_not_one_in_use() {
        let (_folder, path) = folder();
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let (listener, file) = SocketFile::create(&path).await.unwrap();
        assert!(matches!(refusal(&path).await, Some(ControlError::SocketInUse { .. })));
        assert!(path.exists());
        drop((listener, file));
        let (_listener, file) = SocketFile::create(&path).await.unwrap();
        fs::remove_file(&path).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(file);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn rejects_paths_too_long_for_a_socket() {
        let (folder, path) = folder();
        fs::write(&path, "mine").unwrap();
        assert!(matches!(refusal(&path).await, Some(ControlError::NotASocket { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        let path = folder.path().join("x".repeat(MAX_PATH_BYTES));
        assert!(matches!(refusal(&path).await, Some(ControlError::PathTooLong { .. })));
        let missing = refusal(&folder.path().join("no/run.sock")).await;
        assert!(matches!(missing, Some(ControlError::SocketNotMade { .. })), "{missing:?}");
        let rest = MAX_PATH_BYTES - folder.path().as_os_str().len() - 1;
        let path = folder.path().join("x".repeat(rest));
        assert!(SocketFile::create(&path).await.is_ok());
    }
}
