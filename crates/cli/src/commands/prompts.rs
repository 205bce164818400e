//! `switchboard prompts` and `switchboard prompt`: lists prompts, and gets one with its arguments filled in.

use std::collections::BTreeMap;

use serde::Serialize;
use switchboard::ErrorKind;
use switchboard::catalog::{ItemKind, PromptEntry, ServerCatalog};
use switchboard::policy::Target;
use switchboard::protocol::Raw;
use switchboard::spec::ServerName;

use super::listing::{Lister, Listing, NoticeItem, connect, exposed_names};
use crate::args::Prompt;
use crate::ask;
use crate::delivery::{Delivery, Parcel, masked_in_results};
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::login::with_login;
use crate::render::messages;
use crate::report::Failure;
use crate::saving::stem;
use crate::screen::Screen;
use crate::table::{columns, table};
use crate::values;

const KINDS: &[ItemKind] = &[ItemKind::Prompt];

/// Lists the prompts of a server, or of all.
pub(crate) const PROMPTS: Lister = Lister { kinds: KINDS, show };

fn show(listing: &Listing, hosting: &Hosting<'_>) -> Result<(), Failure> {
    if hosting.screen.is_json() {
        return listing.print(hosting, |part| document(part, listing, hosting.screen));
    }
    let rows = listing.parts.iter().flat_map(|part| {
        let prefix = if listing.is_one {
            String::new()
        } else {
            format!("{}/", part.name())
        };
        listing.prompts(part).into_iter().map(move |entry| {
            let words = entry.description().or(entry.title()).unwrap_or_default();
            (format!("{prefix}{}", signature(entry)), words.to_owned())
        })
    });
    let rows: Vec<_> = rows.collect();
    hosting
        .screen
        .page(&table(&rows, columns(), &hosting.screen.secrets()))?;
    listing.warn(KINDS, hosting);
    if rows.is_empty() && listing.is_one {
        hosting.screen.warn("the server offers no prompts");
    }
    Ok(())
}

fn prompt_of<'a>(server: &'a ServerName, name: &'a str) -> Target<'a> {
    Target::Prompt { server, name }
}

/// Formats a prompt as `greeting(name, formal?)`.
fn signature(entry: &PromptEntry) -> String {
    let arguments = entry.prompt().arguments().iter().map(|argument| {
        let mark = if argument.required() { "" } else { "?" };
        format!("{}{mark}", argument.name())
    });
    let arguments: Vec<String> = arguments.collect();
    format!("{}({})", entry.name(), arguments.join(", "))
}

/// The document of `prompts --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct PromptsDocument<'a> {
    server: &'a str,
    prompts: Vec<&'a Raw>,
    /// Model-facing names, by the server's own names.
    exposed: BTreeMap<&'a str, &'a str>,
    notices: Vec<NoticeItem<'a>>,
}

fn document<'p>(
    part: &'p ServerCatalog,
    listing: &Listing,
    screen: &Screen,
) -> PromptsDocument<'p> {
    let prompts = listing.prompts(part);
    PromptsDocument {
        server: part.name().as_str(),
        prompts: prompts.iter().map(|entry| entry.prompt().raw()).collect(),
        exposed: exposed_names(
            prompts.iter().map(|entry| (entry.name(), entry.exposed())),
            screen,
        ),
        notices: listing.notice_items(part, KINDS),
    }
}

/// Returns the server whose prompt the command names.
pub(crate) fn selector(args: &Prompt) -> Selector<'_> {
    match args.prompt.server() {
        Some(server) => Selector::Server(server),
        // A model-facing name contains its server; another is that of the one server that has it.
        None if args.prompt.name().starts_with("mcp_") => Selector::Any,
        None => Selector::All,
    }
}

/// Returns the server of a prompt, if only one has a prompt of that name.
async fn only_server_of(
    prompt: &str,
    hosting: &Hosting<'_>,
) -> Result<Option<ServerName>, Failure> {
    connect(None, hosting).await?;
    let prompts = hosting.view().prompts();
    let mut found = prompts.iter().filter(|entry| entry.name() == prompt);
    let first = found.next().map(|entry| entry.server().clone());
    Ok(first.filter(|_| found.next().is_none()))
}

/// Gets a prompt and delivers its messages.
pub(crate) async fn get(args: &Prompt, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    // Files are read before anything is requested.
    let given = values::texts(&args.values).await?;
    // With --stdio or --url, the part before the slash names the server, as it does for a tool.
    let prompt = args.prompt.name();
    let only = match (&hosting.described, args.prompt.server()) {
        (None, None) if !prompt.starts_with("mcp_") => only_server_of(prompt, hosting).await?,
        _ => None,
    };
    let server = match &hosting.described {
        Some(server) => Some(server.as_str()),
        None => args
            .prompt
            .server()
            .or(only.as_ref().map(ServerName::as_str)),
    };
    let name = match server {
        Some(server) => format!("{server}/{prompt}"),
        None => prompt.to_owned(),
    };
    let delivery = Delivery::prepare(&args.output)?;
    let (view, words) = (hosting.view(), format!("getting {name}"));
    let result = with_login(hosting, async || {
        let getting = view.prompt(&name, &given).options(hosting.options());
        waiting(hosting, Waiting::to(&words), getting.into_future()).await
    });
    let result = result.await;
    hosting.learn();
    let result = result.map_err(|error| {
        let misfits = error.kind() == ErrorKind::Arguments;
        let report = match server.map(ServerName::parse) {
            Some(Ok(server)) => hosting.use_failure(error, prompt_of(&server, prompt)),
            _ => error.into(),
        };
        let known = hosting.view().prompts();
        let entry = known.iter().find(|entry| {
            entry.name() == prompt && server.is_none_or(|server| entry.server().as_str() == server)
        });
        match entry.filter(|_| misfits) {
            Some(entry) => report.fact("signature", signature(entry)),
            None => report,
        }
    })?;
    let server = server.unwrap_or_default();
    let parcel = Parcel {
        whole: result.raw(),
        pieces: messages(&result),
        stem: stem(server, "prompt"),
        is_error: false,
        masked: masked_in_results(hosting, server, args.output.mask),
    };
    delivery.deliver(&parcel, hosting.screen)?;
    let mut sent = result.messages().iter();
    // The prompt shows it as news already.
    if let Some(deviation) = sent.find_map(|message| message.deviation())
        && !ask::has_prompt()
    {
        hosting.screen.warn(&format!("{name}: {deviation}"));
    }
    Ok(Exit::Ok)
}
