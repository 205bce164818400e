//! The catalog with 50 servers of 200 tools each. There is no server and no other client: what it
//! takes is held against fixed limits.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use switchboard::catalog::{Catalog, ServerCatalog};
use switchboard::protocol::{FromRaw, Raw, Tool};
use switchboard::spec::ServerName;

use crate::Fault;
use crate::sample::Sample;
use crate::server::tool_text;

/// Number of servers.
const SERVERS: usize = 50;
/// Number of tools of each.
const TOOLS: usize = 200;
/// The place of the server whose list is read anew.
const CHANGED: usize = SERVERS / 2;

fn server(at: usize) -> Result<ServerName, Fault> {
    Ok(ServerName::parse(&format!("server-{at:02}"))?)
}

fn tool(text: &str) -> Result<Tool, Fault> {
    Ok(Tool::from_raw(&Raw::parse(text)?)?)
}

fn tools() -> Result<Vec<Tool>, Fault> {
    (0..TOOLS).map(|at| tool(&tool_text(at))).collect()
}

fn catalog(tools: &[Tool]) -> Result<Catalog, Fault> {
    let mut catalog = Catalog::default();
    for at in 0..SERVERS {
        let part = ServerCatalog::builder(server(at)?).tools(tools.to_vec());
        catalog = catalog.with(Arc::new(part.build(None)));
    }
    if catalog.tool_count() != SERVERS * TOOLS {
        return Err("the catalog does not have all tools".into());
    }
    Ok(catalog)
}

/// Looks tools up by their names for models, another one each time.
///
/// # Errors
/// Fails if one is not found.
pub fn find(count: u32) -> Result<Sample, Fault> {
    let catalog = catalog(&tools()?)?;
    let names = |tool: &Arc<switchboard::catalog::ToolEntry>| tool.exposed().to_owned();
    let names: Vec<String> = catalog.tools().map(names).collect();
    // Neighbours in the list are neighbours in memory; a model asks for whatever it likes.
    let asked = names.iter().cycle().step_by(1007);
    let started = Instant::now();
    for name in asked.take(usize::try_from(count)?) {
        let found = catalog.resolve(black_box(name))?;
        if found.exposed() != name {
            return Err(format!("{name} led to another tool").into());
        }
    }
    let elapsed = started.elapsed();
    Ok(Sample {
        elapsed,
        ops: count,
    })
}

/// Takes in a new list of one server, in which one tool is another, and tells what changed.
///
/// # Errors
/// Fails if the change is not reported.
pub fn rebuild(count: u32) -> Result<Sample, Fault> {
    let tools = tools()?;
    let mut catalog = catalog(&tools)?;
    let name = server(CHANGED)?;
    let lists = [tool_text(0), tool_text(0).replace("records", "papers")].map(|text| {
        let mut list = tools.clone();
        if let Some(first) = list.first_mut() {
            *first = tool(&text)?;
        }
        Ok::<_, Fault>(list)
    });
    let [same, other] = lists;
    let lists = [other?, same?];
    let mut elapsed = std::time::Duration::ZERO;
    for list in lists.iter().cycle().take(usize::try_from(count)?) {
        // The list comes from the server; copying it is not part of the work.
        let list = list.clone();
        let started = Instant::now();
        let previous = catalog.server(name.as_str()).map(|part| &**part);
        let part = ServerCatalog::builder(name.clone()).tools(list);
        let newer = catalog.with(Arc::new(part.build(previous)));
        let changes = catalog.diff(&newer);
        let older = std::mem::replace(&mut catalog, newer);
        drop(older);
        elapsed += started.elapsed();
        if changes.len() != 1 {
            return Err(format!("{} changes instead of one", changes.len()).into());
        }
    }
    Ok(Sample {
        elapsed,
        ops: count,
    })
}
