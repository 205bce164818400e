//! A host that is asked and told far too much while it calls, and says what that cost.
//!
//! `talk-flood-host answering|silent|nobody URL|PROGRAM ARGS...`. Who answers are the library's own handlers, or
//! handlers that never do, or nobody. It calls `add`, which is to go well, then `echo`, during which the server talks,
//! then `add` again, and writes what it saw to stdout, a name and a value a line.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use switchboard::SessionOptions;
use switchboard::protocol::{CreateMessageParams, CreateMessageResult, ElicitResult};
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::{
    Answering, ElicitRequest, ElicitSupport, Handlers, Operator, Responder, Roots, Sample,
    SharedOperator,
};
use switchboard::transport::{Connect, Environment, Http, Stdio};
use switchboard_tests::flood::{HELLO, SUM, call, connect_with, status_kib};
use switchboard_tests::handlers::handlers;

/// The one of the command line, which keeps for a while what it is given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Hears all questions and answers none.
#[derive(Clone, Default)]
struct Silent {
    asked: Arc<AtomicU64>,
    completed: Arc<AtomicU64>,
}

impl Operator for Silent {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    async fn elicit(&self, _: ElicitRequest) -> Result<ElicitResult, Refusal> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    fn visit_completed(&self, _: &ServerName, _: &str) {
        self.completed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Sample for Silent {
    fn sample<'a>(
        &'a self,
        _: &'a ServerName,
        _: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::pending())
    }
}

async fn run(
    server: &dyn Connect,
    handlers: Handlers,
    silent: &Silent,
) -> Result<String, Box<dyn Error>> {
    let responder = Responder::new(ServerName::parse("flood")?, handlers, true);
    let options = SessionOptions::default().respond(responder);
    let session = connect_with(server, options).await?;
    call(&session, "add", SUM).await?;
    let before = status_kib("VmRSS")?;
    let begun = Instant::now();
    let outcome = match call(&session, "echo", HELLO).await {
        Ok(text) => format!("ok {text}"),
        Err(error) => format!("error {error}"),
    };
    let took = begun.elapsed();
    let next = call(&session, "add", SUM).await?;
    let (peak, after) = (status_kib("VmHWM")?, status_kib("VmRSS")?);
    let counts = session.counts();
    session.close().await;
    Ok(format!(
        "outcome {outcome}\nnext {next}\ncall-ms {}\nbefore-kib {before}\ngrown-kib {}\nstayed-kib {}\n\
         asked {}\ncompleted {}\nshed {}\nrefused {}\nno-room {}\ndropped-notices {}\n",
        took.as_millis(),
        peak.saturating_sub(before),
        after.saturating_sub(before),
        silent.asked.load(Ordering::Relaxed),
        silent.completed.load(Ordering::Relaxed),
        counts.shed_answers,
        counts.refused_requests,
        counts.no_room,
        counts.dropped_notices,
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let silent = Silent::default();
    let handlers = match args.next().as_deref() {
        Some("answering") => handlers(),
        Some("silent") => Handlers {
            operator: Some(SharedOperator::new(silent.clone())),
            sample: Some(Arc::new(silent.clone())),
            roots: Some(Roots::of(["."])),
        },
        Some("nobody") => Handlers::default(),
        _ => return Err("who is to answer?".into()),
    };
    let target = args.next().ok_or("no server")?;
    let server: Box<dyn Connect> = match target.starts_with("http://") {
        true => Box::new(Http::new(&target)?),
        false => Box::new(
            Stdio::new(target)
                .args(args)
                .environment(&Environment::of_process()),
        ),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(run(&*server, handlers, &silent))?;
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}
