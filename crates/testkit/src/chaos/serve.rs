//! The line loop with faults.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::fault::Then;
use super::output::{Close, Ending, Output, Side};
use super::player::{Cue, Player};
use super::{Act, lists, process};
use crate::Options;
use crate::lines::{Line, Lines};
use crate::service::{Connection, Incoming, Service, Sink};

/// Capacity of the queues of answers and of acts.
const WAITING: usize = 256;

/// The state that both directions share.
struct Stage {
    player: Mutex<Player>,
    acts: mpsc::Sender<Act>,
    /// Acts that faults perform on their own. Each has an empty line among the answers as a
    /// placeholder, so that it does not overtake earlier answers.
    queued: Mutex<VecDeque<Vec<Act>>>,
    /// Delayed and repeated writes; aborted with the connection.
    tasks: Mutex<JoinSet<()>>,
}

/// Serves one client, with the faults that the options name.
pub(crate) async fn serve<R, W>(
    reader: R,
    writer: W,
    mut options: Options,
    close: Close,
) -> io::Result<Ending>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    lists::adjust(&mut options);
    // Before anything else, so that no signal comes too early.
    let mut signals = std::pin::pin!(process::signals(&options.chaos)?);
    let mut player = Player::new(&options.chaos);
    let mut output = Output::new(writer, close);
    // Acts of the start come before the first line is read: a server may exit here.
    for act in player.start() {
        if let Some(ending) = output.act(act).await? {
            return Ok(ending);
        }
    }
    let (acts, steps) = mpsc::channel(WAITING);
    let (sender, lines) = mpsc::channel(WAITING);
    let stage = Arc::new(Stage {
        player: Mutex::new(player),
        acts,
        queued: Mutex::default(),
        tasks: Mutex::new(JoinSet::new()),
    });
    let talking = async {
        // Join both: the last answers are still on their way when reading ends.
        let reading = read(
            reader,
            Sink::new(sender),
            &options,
            Arc::clone(&stage),
            close,
        );
        let (read, ()) = tokio::join!(reading, say(lines, Arc::clone(&stage)));
        // Do not wait for late answers: their client has gone.
        stage.tasks(JoinSet::abort_all);
        stage.deliver(vec![Act::End(Ending::Done)]).await;
        read
    };
    let mut talking = std::pin::pin!(talking);
    let mut writing = std::pin::pin!(write(output, steps));
    tokio::select! {
        biased;
        talked = &mut talking => talked?,
        written = &mut writing => return written,
        ending = &mut signals => return Ok(ending),
    }
    writing.await
}

async fn read<R: AsyncRead + Unpin>(
    reader: R,
    sink: Sink,
    options: &Options,
    stage: Arc<Stage>,
    close: Close,
) -> io::Result<()> {
    let mut lines = Lines::new(reader);
    let service = Arc::new(Service::new(options));
    let mut connection = Connection::new(service, sink.clone());
    while let Some(line) = lines.next().await? {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => text,
            Line::Garbled | Line::TooLong => {
                connection
                    .receive(Incoming::unreadable("the line cannot be read"))
                    .await;
                continue;
            }
        };
        // The faults see a message before the server, and may change or withhold it.
        let heard = stage.player(|player| player.hear(&text));
        let Some(heard) = heard else {
            connection.receive(Incoming::parse(&text)).await;
            continue;
        };
        let text = if heard.changed {
            heard.message.to_string()
        } else {
            text
        };
        if !heard.kept {
            connection.receive(Incoming::parse(&text)).await;
        }
        // An empty line as a placeholder among the answers keeps the order of the acts.
        if !heard.acts.is_empty() {
            stage.queued(|queued| queued.push_back(heard.acts));
            sink.send_line(String::new()).await;
        }
        if connection.is_over() {
            break;
        }
        match heard.then {
            Then::ReadOn => {}
            Then::StopReading => std::future::pending::<()>().await,
            Then::CloseInput => {
                drop(lines);
                close(Side::Input);
                std::future::pending::<()>().await;
                break;
            }
        }
    }
    // The end of stdin would end the server: with this fault it lives on without its client.
    if process::ignores_eof(&options.chaos) {
        std::future::pending::<()>().await;
    }
    connection.close().await;
    Ok(())
}

async fn say(mut lines: mpsc::Receiver<String>, stage: Arc<Stage>) {
    while let Some(line) = lines.recv().await {
        if line.is_empty() {
            let acts = stage.queued(VecDeque::pop_front);
            stage.deliver(acts.unwrap_or_default()).await;
            continue;
        }
        let Cue {
            acts,
            delay,
            release,
        } = stage.player(|player| player.say(line));
        // A delayed answer waits in a task of its own, so that the others go on.
        if delay.is_zero() {
            stage.deliver(acts).await;
        } else {
            let later = Arc::downgrade(&stage);
            stage.spawn(async move {
                tokio::time::sleep(delay).await;
                if let Some(stage) = later.upgrade() {
                    stage.deliver(acts).await;
                }
            });
        }
        if let Some(time) = release {
            let later = Arc::downgrade(&stage);
            stage.spawn(async move {
                tokio::time::sleep(time).await;
                if let Some(stage) = later.upgrade() {
                    let acts = stage.player(Player::release);
                    stage.deliver(acts).await;
                }
            });
        }
    }
    // Answers that were held back for another one that never came.
    let acts = stage.player(Player::release);
    stage.deliver(acts).await;
}

async fn write<W: AsyncWrite + Unpin>(
    mut output: Output<W>,
    mut steps: mpsc::Receiver<Act>,
) -> io::Result<Ending> {
    while let Some(act) = steps.recv().await {
        if let Some(ending) = output.act(act).await? {
            return Ok(ending);
        }
    }
    Ok(Ending::Done)
}

impl Stage {
    fn player<T>(&self, act: impl FnOnce(&mut Player) -> T) -> T {
        act(&mut self.player.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn queued<T>(&self, act: impl FnOnce(&mut VecDeque<Vec<Act>>) -> T) -> T {
        act(&mut self.queued.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tasks<T>(&self, act: impl FnOnce(&mut JoinSet<()>) -> T) -> T {
        act(&mut self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks(|tasks| {
            while tasks.try_join_next().is_some() {}
            tasks.spawn(work);
        });
    }

    async fn deliver(&self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Every(time, line) => {
                    let sender = self.acts.clone();
                    self.spawn(async move {
                        for number in 1.. {
                            let act = Act::line(line(number), "\n");
                            if sender.send(act).await.is_err() {
                                return;
                            }
                            tokio::time::sleep(time).await;
                        }
                    });
                }
                Act::Later(time, line) => {
                    let sender = self.acts.clone();
                    self.spawn(async move {
                        tokio::time::sleep(time).await;
                        send(&sender, Act::line(line, "\n")).await;
                    });
                }
                act => send(&self.acts, act).await,
            }
        }
    }
}

async fn send(sender: &mpsc::Sender<Act>, act: Act) {
    // A writer that is gone has no reader.
    let _ = sender.send(act).await;
}
