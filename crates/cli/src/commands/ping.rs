//! `switchboard ping`: connects to servers, pings those that are up, and shows the latency or the error of
//! each.

use std::time::Duration;

use serde::Serialize;
use switchboard::Error;
use switchboard::host::{State, Status};
use tokio::task::JoinSet;

use super::listing::connect_with_login;
use crate::args::List;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::login::{explained, with_login};
use crate::report::Failure;
use crate::table::{columns, table};

/// Pings servers and shows the time that each took to answer.
pub(crate) async fn run_on(args: &List, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let one = hosting.one(args.server.as_deref());
    let statuses = connect_with_login(one, hosting).await?;
    // Servers that failed to connect are not pinged; their error is the answer.
    let answers = match (one, statuses.as_slice()) {
        (Some(_), [status]) if matches!(status.state, State::Connected) => {
            vec![(status, ask_one(status, hosting).await)]
        }
        _ => ask(&statuses, hosting).await,
    };
    hosting.learn();
    if let (Some(_), [(_, Answer::Failed(error))]) = (one, answers.as_slice()) {
        return Err(error.clone().into());
    }
    let screen = hosting.screen;
    if screen.is_json() {
        let documents: Vec<PingDocument<'_>> = answers.iter().map(document).collect();
        let line = match (one, documents.as_slice()) {
            (Some(_), [one]) => screen.json_line(one),
            _ => screen.json_line(&serde_json::json!({"servers": documents})),
        };
        screen.result(&line?)?;
    } else {
        let rows: Vec<_> = answers
            .iter()
            .map(|(status, answer)| (status.name.to_string(), answer.words(status)))
            .collect();
        screen.result(&table(&rows, columns(), &screen.secrets()))?;
    }
    Ok(exit(&answers))
}

/// Outcome of one ping.
enum Answer {
    /// Answered after this time.
    After(Duration),
    /// Not answered, because of this error.
    Failed(Error),
    /// Not asked: the server is disabled or otherwise not expected to be up.
    NotAsked,
}

impl Answer {
    fn words(&self, status: &Status) -> String {
        match self {
            Self::After(took) => format!("{:.1} ms", millis(*took)),
            Self::Failed(error) => format!("{}  {}", status.state.word(), explained(error).title),
            Self::NotAsked => status.state.word().to_owned(),
        }
    }
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// Pings one server. If its login has ended since it was connected, a new one is offered.
async fn ask_one(status: &Status, hosting: &Hosting<'_>) -> Answer {
    let name = status.name.as_str();
    let answer = with_login(hosting, async || hosting.host.check(name).await);
    answer.await.map_or_else(Answer::Failed, Answer::After)
}

/// Pings all connected servers concurrently, and keeps their order.
async fn ask<'s>(statuses: &'s [Status], hosting: &Hosting<'_>) -> Vec<(&'s Status, Answer)> {
    let mut asking = JoinSet::new();
    for (at, status) in statuses.iter().enumerate() {
        if !matches!(status.state, State::Connected) {
            continue;
        }
        let (host, name) = (hosting.host.clone(), status.name.clone());
        asking.spawn(async move { (at, host.check(name.as_str()).await) });
    }
    let asked = asking.join_all().await;
    let mut took: Vec<Option<Answer>> = statuses.iter().map(|_| None).collect();
    for (at, answer) in asked {
        if let Some(place) = took.get_mut(at) {
            *place = Some(answer.map_or_else(Answer::Failed, Answer::After));
        }
    }
    let answers = statuses.iter().zip(took).map(|(status, answer)| {
        let otherwise = || {
            status
                .error()
                .cloned()
                .map_or(Answer::NotAsked, Answer::Failed)
        };
        (status, answer.unwrap_or_else(otherwise))
    });
    answers.collect()
}

/// Returns success if at least one server answers, otherwise the code of the common cause.
fn exit(answers: &[(&Status, Answer)]) -> Exit {
    let errors = || {
        answers.iter().filter_map(|(_, answer)| match answer {
            Answer::Failed(error) => Some(error),
            Answer::After(_) | Answer::NotAsked => None,
        })
    };
    let answered = |answer: &Answer| matches!(answer, Answer::After(_));
    if answers.iter().any(|(_, answer)| answered(answer)) {
        Exit::Ok
    } else {
        Exit::of_all(errors())
    }
}

/// The document of `ping --json`.
#[derive(Serialize)]
struct PingDocument<'a> {
    server: &'a str,
    state: &'static str,
    latency_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<PingError>,
}

#[derive(Serialize)]
struct PingError {
    exit: u8,
    message: String,
}

fn document<'a>((status, answer): &'a (&Status, Answer)) -> PingDocument<'a> {
    let (latency_ms, error) = match answer {
        Answer::After(took) => (Some(millis(*took)), None),
        Answer::NotAsked => (None, None),
        Answer::Failed(error) => {
            let problem = PingError {
                exit: Exit::of(error).number(),
                message: explained(error).title,
            };
            (None, Some(problem))
        }
    };
    PingDocument {
        server: status.name.as_str(),
        state: status.state.word(),
        latency_ms,
        error,
    }
}
