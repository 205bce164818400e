//! `switchboard test-server`: runs the testkit's server over stdio or HTTP, with the misbehaviour that the
//! options ask for.

use std::io::{self, Write};
use std::time::Duration;

use switchboard_testkit::chaos;
use switchboard_testkit::http::{Answers, Http, Transport};
use switchboard_testkit::issuer::{self, Issuer, IssuerOptions};
use switchboard_testkit::{Eras, HeaderTools, Journal, Options, serve_stdio};

use crate::args::{self, Era, HttpAnswers, HttpTransport, TestServer};
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// Serves until stdin ends, or over HTTP until the process is ended.
pub(crate) fn run(args: &TestServer) -> Exit {
    let served = if args.list_chaos {
        Screen::plain(false).result(&chaos::table())
    } else if args.list_issuer_faults {
        Screen::plain(false).result(&issuer::table())
    } else {
        serve(args)
    };
    match served {
        Ok(()) => Exit::Ok,
        Err(report) => Screen::plain(false).fail(&report),
    }
}

fn serve(args: &TestServer) -> Result<(), Failure> {
    // Variables that are not Unicode are skipped: those that matter here are.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut options = Options::from_vars(variables)
        .map_err(|error| Report::new(Exit::Configuration, "configuration", error.to_string()))?;
    options.eras = match args.era {
        Era::Both => Eras::Both,
        Era::Legacy => Eras::Legacy,
        Era::Modern => Eras::Modern,
    };
    options.header_tools = match args.header_tools {
        args::HeaderTools::None => HeaderTools::None,
        args::HeaderTools::Good => HeaderTools::Good,
        args::HeaderTools::Bad => HeaderTools::Bad,
    };
    options.chaos.clone_from(&args.chaos);
    options.growing = args.growing;
    options.asking_models = args.asking_models;
    options.talking = args.talking;
    options.conformance = args.conformance;
    options.shapes = args.shapes;
    options.instance.clone_from(&args.instance);
    options.start_delay = args.start_delay.map(Duration::from_millis);
    if let Some(path) = &args.journal {
        let journal = Journal::open(path).map_err(|error| {
            Report::new(
                Exit::Configuration,
                "configuration",
                "the journal cannot be opened",
            )
            .fact("file", path.display().to_string())
            .fact("the system says", error.to_string())
        })?;
        options.journal = Some(journal);
    }
    if args.paginate {
        options = options.or(&Options::paginating());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| serve_failure(&error))?;
    if let Some(port) = args.port {
        let served = runtime.block_on(serve_http(args, options, port));
        return served.map_err(|error| serve_failure(&error));
    }
    // Over stdio the server ends with its input.
    let served = runtime.block_on(serve_stdio(options));
    // A thread may still block on stdin: don't wait for it.
    runtime.shutdown_background();
    served.map_err(|error| serve_failure(&error))
}

/// Serves over HTTP until a fault ends it.
async fn serve_http(args: &TestServer, options: Options, port: u16) -> io::Result<()> {
    let http = Http::new(options)
        .host(args.host)
        .port(port)
        .transport(match args.transport {
            HttpTransport::Streamable => Transport::Streamable,
            HttpTransport::Sse => Transport::Sse,
        })
        .answers(match args.answers {
            HttpAnswers::Auto => Answers::Auto,
            HttpAnswers::Json => Answers::Json,
            HttpAnswers::Sse => Answers::Sse,
        })
        // Requests are recorded for tests in the same process, which there are not here.
        .record(0);
    let http = if args.stateless {
        http.stateless()
    } else {
        http
    };
    let http = match issuer(args)? {
        Some(issuer) => http.oauth(issuer),
        None => http,
    };
    let server = http.serve().await?;
    let mut stdout = io::stdout();
    // The starting process may have closed stdout.
    let _ = writeln!(stdout, "listening on {}", server.url());
    let _ = stdout.flush();
    match server.ended().await {
        0 => Ok(()),
        // Chaos mode: end without closing connections.
        134 => std::process::abort(),
        status => std::process::exit(status),
    }
}

/// Builds the OAuth issuer that the options describe.
fn issuer(args: &TestServer) -> io::Result<Option<Issuer>> {
    if !args.oauth {
        return Ok(None);
    }
    let mut options = IssuerOptions::default();
    for setting in &args.oauth_set {
        let set = options.set(setting);
        set.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
    }
    options.faults.clone_from(&args.issuer_fault);
    Issuer::new(options).map(Some)
}

fn serve_failure(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::InvalidInput {
        return Report::new(Exit::Configuration, "configuration", error.to_string());
    }
    if error.kind() == io::ErrorKind::AddrInUse || error.kind() == io::ErrorKind::AddrNotAvailable {
        let what = "the server cannot listen on this address";
        return Report::new(Exit::Configuration, "configuration", what)
            .fact("the system says", error.to_string());
    }
    Report::new(Exit::Internal, "internal", "the server cannot go on")
        .fact("the system says", error.to_string())
}
