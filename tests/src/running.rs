//! A partner that runs as a process and is reached over HTTP.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::partners::Launch;

/// How long a partner may take for what a test waits for; machines are busy at times.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the line begins with that says where a partner listens.
const LISTENING: &str = "listening on ";

/// A server on loopback. It is killed when it is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Where it listens, as it said itself.
    said: String,
    lines: Lines,
}

/// What a process wrote to stdout and stderr so far.
#[derive(Debug, Clone, Default)]
struct Lines {
    all: Arc<Mutex<Vec<String>>>,
    count: watch::Sender<usize>,
}

impl Running {
    /// Starts a partner, which is told to listen on a port that is free, and waits until it does.
    ///
    /// # Panics
    /// When it ends or says nothing, with what it wrote instead.
    pub async fn start(launch: impl Fn(u16) -> Launch) -> Self {
        Self::on_port(launch, 0).await
    }

    async fn on_port(launch: impl Fn(u16) -> Launch, port: u16) -> Self {
        let launch = launch(port);
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .envs(launch.env.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = &launch.cwd {
            command.current_dir(folder);
        }
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{launch:?} does not start: {error}"));
        let lines = Lines::default();
        lines.read(child.stdout.take());
        lines.read(child.stderr.take());
        let listening = |line: &str| line.starts_with(LISTENING);
        let line = tokio::select! {
            line = lines.wait(listening) => line,
            ended = child.wait() => panic!("{launch:?} ended: {ended:?}, {}", lines.text()),
        };
        let line = line.unwrap_or_else(|| panic!("{launch:?} does not listen: {}", lines.text()));
        let said = line.trim_start_matches(LISTENING).to_owned();
        Self { child, said, lines }
    }

    /// Kills it without notice, and starts it anew on the same port.
    ///
    /// # Panics
    /// As [`Self::start`], also when somebody else has taken the port meanwhile.
    pub async fn restart(&mut self, launch: impl Fn(u16) -> Launch) {
        let port = self.port();
        self.kill().await;
        *self = Self::on_port(launch, port).await;
    }

    /// Kills it without notice, and waits until it is gone.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        let killed = self.child.kill().await;
        killed.unwrap_or_else(|error| panic!("{:?} lives on: {error}", self.child));
    }

    /// The address it gave.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.said
    }

    /// An address at the same place with another path.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port())
    }

    fn port(&self) -> u16 {
        let rest = self.said.trim_start_matches("http://127.0.0.1:");
        let digits = rest.split('/').next().unwrap_or_default();
        let port = digits.parse();
        port.unwrap_or_else(|_| panic!("no port in {:?}", self.said))
    }

    /// Waits for a line that contains `part`.
    ///
    /// # Panics
    /// When there is none for a minute.
    pub async fn says(&self, part: &str) {
        let found = self.lines.wait(|line| line.contains(part)).await;
        assert!(found.is_some(), "no {part:?} in {}", self.lines.text());
    }

    /// How many lines contain `part` so far.
    #[must_use]
    pub fn said(&self, part: &str) -> usize {
        let lines = self.lines.lock();
        lines.iter().filter(|line| line.contains(part)).count()
    }
}

impl Lines {
    fn read(&self, pipe: Option<impl AsyncRead + Send + Unpin + 'static>) {
        let Some(pipe) = pipe else { return };
        let this = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(pipe).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                this.lock().push(line);
                this.count.send_modify(|count| *count += 1);
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.all
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn wait(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let mut count = self.count.subscribe();
        let find = || self.lock().iter().find(|line| wanted(line)).cloned();
        let waiting = async {
            loop {
                if let Some(line) = find() {
                    return line;
                }
                // The sender is our own.
                count.changed().await.ok();
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.ok()
    }

    fn text(&self) -> String {
        self.lock().join("\n")
    }
}
