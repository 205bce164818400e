//! `switchboard test-server`.

use switchboard_testkit::chaos;
use switchboard_testkit::{Eras, Journal, Options, serve_stdio};

use crate::args::{Era, TestServer};
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// Serves until stdin ends.
pub(crate) fn run(args: &TestServer) -> Exit {
    let served = if args.list_chaos {
        Screen::plain(false).result(&chaos::table())
    } else {
        serve(args)
    };
    match served {
        Ok(()) => Exit::Ok,
        Err(report) => Screen::plain(false).fail(&report),
    }
}

fn serve(args: &TestServer) -> Result<(), Failure> {
    // The two variables that count are plain text; others may be anything.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut options = Options::from_vars(variables)
        .map_err(|error| Report::new(Exit::Configuration, "configuration", error.to_string()))?;
    options.eras = match args.era {
        Era::Both => Eras::Both,
        Era::Legacy => Eras::Legacy,
        Era::Modern => Eras::Modern,
    };
    options.chaos.clone_from(&args.chaos);
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
    let runtime = runtime.map_err(|error| broken(&error))?;
    let served = runtime.block_on(serve_stdio(options));
    // A thread may still wait on stdin: the process does not wait for it.
    runtime.shutdown_background();
    served.map_err(|error| broken(&error))
}

fn broken(error: &std::io::Error) -> Failure {
    Report::new(Exit::Internal, "internal", "the server cannot go on")
        .fact("the system says", error.to_string())
}
