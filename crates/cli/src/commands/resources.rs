//! `switchboard resources`, `switchboard templates` and `switchboard read`: lists resources and templates,
//! and reads one by its URI.

use std::borrow::Cow;

use serde::Serialize;
use switchboard::Error;
use switchboard::catalog::{Fill, ItemKind, ServerCatalog, TemplateError, UriTemplate};
use switchboard::policy::Target;
use switchboard::protocol::Raw;
use switchboard::spec::ServerName;

use super::listing::{Lister, Listing, NoticeItem};
use crate::args::Read;
use crate::delivery::{Delivery, Parcel, masked_in_results};
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::login::with_login;
use crate::render::contents;
use crate::report::{Failure, Report};
use crate::saving::stem;
use crate::table::{columns, table};
use crate::values;

const KINDS: &[ItemKind] = &[ItemKind::Resource, ItemKind::Template];

/// Lists the resources of a server, or of all, and their templates.
pub(crate) const RESOURCES: Lister = Lister { kinds: KINDS, show };

const TEMPLATE_KINDS: &[ItemKind] = &[ItemKind::Template];

/// Lists the resource templates of a server, or of all.
pub(crate) const TEMPLATES: Lister = Lister {
    kinds: TEMPLATE_KINDS,
    show: show_templates,
};

fn show(listing: &Listing, hosting: &Hosting<'_>) -> Result<(), Failure> {
    if hosting.screen.is_json() {
        return listing.print(hosting, |part| document(part, listing));
    }
    let mut rows = Vec::new();
    for part in &listing.parts {
        let prefix = if listing.is_one {
            String::new()
        } else {
            format!("{} ", part.name())
        };
        for entry in listing.resources(part) {
            let resource = entry.resource();
            let mut words = vec![entry.title().unwrap_or(resource.name()).to_owned()];
            words.extend(resource.mime_type().map(str::to_owned));
            words.extend(entry.description().map(str::to_owned));
            rows.push((format!("{prefix}{}", entry.uri()), words.join("  ")));
        }
        for entry in listing.templates(part) {
            let words = entry.description().or(entry.title()).unwrap_or_default();
            let left = format!("{prefix}{}", entry.uri_template());
            rows.push((left, format!("(template)  {words}")));
        }
    }
    hosting
        .screen
        .page(&table(&rows, columns(), &hosting.screen.secrets()))?;
    listing.warn(KINDS, hosting);
    if rows.is_empty() && listing.is_one {
        hosting.screen.warn("the server offers no resources");
    }
    Ok(())
}

fn show_templates(listing: &Listing, hosting: &Hosting<'_>) -> Result<(), Failure> {
    if hosting.screen.is_json() {
        return listing.print(hosting, |part| {
            let templates = listing.templates(part).into_iter();
            TemplateDocument {
                server: part.name().as_str(),
                templates: templates.map(|entry| entry.template().raw()).collect(),
                notices: listing.notice_items(part, TEMPLATE_KINDS),
            }
        });
    }
    let rows = listing.parts.iter().flat_map(|part| {
        let prefix = if listing.is_one {
            String::new()
        } else {
            format!("{} ", part.name())
        };
        let templates = listing.templates(part).into_iter();
        templates.map(move |entry| {
            let template = entry.template();
            let mut words = vec![entry.title().unwrap_or(template.name()).to_owned()];
            words.extend(template.mime_type().map(str::to_owned));
            words.extend(entry.description().map(str::to_owned));
            let left = format!("{prefix}{}", entry.uri_template());
            (left, words.join("  "))
        })
    });
    let rows: Vec<_> = rows.collect();
    let screen = hosting.screen;
    screen.page(&table(&rows, columns(), &screen.secrets()))?;
    listing.warn(TEMPLATE_KINDS, hosting);
    if rows.is_empty() && listing.is_one {
        screen.warn("the server offers no templates");
    }
    Ok(())
}

/// The document of `templates --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct TemplateDocument<'a> {
    server: &'a str,
    templates: Vec<&'a Raw>,
    notices: Vec<NoticeItem<'a>>,
}

/// The document of `resources --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ResourcesDocument<'a> {
    server: &'a str,
    resources: Vec<&'a Raw>,
    templates: Vec<&'a Raw>,
    notices: Vec<NoticeItem<'a>>,
}

fn document<'p>(part: &'p ServerCatalog, listing: &Listing) -> ResourcesDocument<'p> {
    let resources = listing.resources(part).into_iter();
    let templates = listing.templates(part).into_iter();
    ResourcesDocument {
        server: part.name().as_str(),
        resources: resources.map(|entry| entry.resource().raw()).collect(),
        templates: templates.map(|entry| entry.template().raw()).collect(),
        notices: listing.notice_items(part, KINDS),
    }
}

/// Returns the server whose resource the command names.
pub(crate) fn selector(args: &Read) -> Selector<'_> {
    split_words(&args.resource)
        .0
        .map_or(Selector::Any, Selector::Server)
}

/// Splits the words into server, URI and values. A URI has a `:` or `{`, which no server name has.
pub(crate) fn split_words(words: &[String]) -> (Option<&str>, &str, &[String]) {
    match words {
        [uri, values @ ..] if uri.contains([':', '{']) => (None, uri, values),
        [server, uri, values @ ..] => (Some(server), uri, values),
        [uri] => (None, uri, &[]),
        [] => (None, "", &[]),
    }
}

/// Returns the URI to read, with the variables of a template filled in.
async fn address<'a>(uri: &'a str, values: &[String]) -> Result<Cow<'a, str>, Failure> {
    if !UriTemplate::is_one(uri) {
        return match values {
            [] => Ok(Cow::Borrowed(uri)),
            _ => Err(Report::usage(
                "only a template takes arguments, and this URI has no {}",
            )),
        };
    }
    // The words after a template are its variables.
    let given = values::texts(values).await?;
    let given = given
        .into_iter()
        .map(|(name, text)| (name, Fill::from(text)));
    let filled = UriTemplate::parse(uri).and_then(|read| read.expand(&given.collect()));
    filled.map(Cow::Owned).map_err(|error| {
        let report = Report::usage(error.to_string()).fact("template", uri.to_owned());
        match error {
            TemplateError::Missing { names } => {
                let blanks = names.iter().map(|name| format!("{name}=..."));
                report.hint(format!("add {}", blanks.collect::<Vec<_>>().join(" ")))
            }
            _ => report,
        }
    })
}

/// Returns the server that has the resource: the one that the command line describes, or the one that it
/// names.
///
/// # Errors
/// Returns a usage error if it does neither.
pub(super) fn server_of<'a>(
    named: Option<&'a str>,
    hosting: &'a Hosting<'_>,
) -> Result<&'a str, Failure> {
    hosting.one(named).ok_or_else(|| {
        let report = Report::usage("no server given");
        report.hint("write SERVER URI, such as demo file:///readme.txt")
    })
}

/// Builds the report for a resource that could not be used.
pub(super) fn read_failure(
    error: Error,
    server: &str,
    uri: &str,
    hosting: &Hosting<'_>,
) -> Failure {
    match ServerName::parse(server) {
        Ok(server) => {
            let server = &server;
            hosting.use_failure(error, Target::Resource { server, uri })
        }
        Err(_) => error.into(),
    }
}

/// Reads a resource and delivers its contents.
pub(crate) async fn read(args: &Read, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let (server, uri, values) = split_words(&args.resource);
    let server = server_of(server, hosting)?;
    let uri = &*address(uri, values).await?;
    // Check the output options before anything is requested: a result that cannot be kept need not be
    // fetched.
    let delivery = Delivery::prepare(&args.output)?;
    let (view, words) = (hosting.view(), format!("reading {uri}"));
    let result = with_login(hosting, async || {
        let reading = view.read(server, uri).options(hosting.options());
        waiting(hosting, Waiting::to(&words), reading.into_future()).await
    });
    let result = result.await;
    hosting.learn();
    let result = result.map_err(|error| read_failure(error, server, uri, hosting))?;
    let parcel = Parcel {
        whole: result.raw(),
        pieces: contents(&result),
        stem: stem(server, "resource"),
        is_error: false,
        masked: masked_in_results(hosting, server, args.output.mask),
    };
    delivery.deliver(&parcel, hosting.screen)?;
    Ok(Exit::Ok)
}
