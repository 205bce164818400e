//! What is different between two snapshots.

use std::sync::Arc;

use super::super::{Catalog, Change, Freshness};
use super::{catalog, name, prompt, resource, server, template, tool, tools};
use crate::catalog::names::NameForm;
use crate::spec::NameStyle;

/// The changes, each in a line.
fn told(old: &Catalog, new: &Catalog) -> Vec<String> {
    let line = |change| match change {
        Change::ServerAdded(server) => format!("{server} added"),
        Change::ServerRemoved(server) => format!("{server} removed"),
        Change::Freshness { server, from, to } => format!("{server} {from} to {to}"),
        Change::Instructions(server) => format!("{server} instructions"),
        Change::Item {
            kind,
            server,
            name,
            exposed,
            delta,
        } => {
            let exposed = exposed.unwrap_or_else(|| "-".into());
            format!("{delta:?} {kind} {server}/{name} {exposed}")
        }
    };
    old.diff(new).into_iter().map(line).collect()
}

#[test]
fn every_kind_of_change_is_told_once() {
    let before = catalog([
        server("gone").tools(tools(&["x"])),
        server("s")
            .tools(vec![tool("a", "1"), tool("b", "1"), tool("c", "1")])
            .prompts(vec![prompt("p"), prompt("q")])
            .resources(vec![resource("x:1")])
            .templates(vec![template("x:{1}")])
            .instructions(Some("old".to_owned())),
        server("same").tools(tools(&["x"])),
    ]);
    let part = server("s")
        .freshness(Freshness::Stale)
        .tools(vec![tool("d", "1"), tool("b", "2"), tool("a", "1")])
        .prompts(vec![prompt("q")])
        .resources(vec![resource("x:2")])
        .templates(vec![template("x:{1}"), template("x:{2}")]);
    let part = part.build(before.server("s").map(|part| &**part));
    let added = server("new").tools(tools(&["y"])).build(None);
    let after = before
        .without(&name("gone"))
        .with(Arc::new(part))
        .with(Arc::new(added));
    assert_eq!(
        told(&before, &after),
        [
            "gone removed",
            "Removed tool gone/x mcp__gone__x",
            "new added",
            "Added tool new/y mcp__new__y",
            "s live to stale",
            "s instructions",
            "Removed tool s/c mcp__s__c",
            "Added tool s/d mcp__s__d",
            "Changed tool s/b mcp__s__b",
            "Removed prompt s/p mcp__s__p",
            "Removed resource s/x:1 -",
            "Added resource s/x:2 -",
            "Added resource template s/x:{2} -",
        ]
    );
}

#[test]
fn the_same_lists_are_no_change_however_they_were_made() {
    let make = || {
        catalog([server("s")
            .tools(tools(&["a", "b"]))
            .prompts(vec![prompt("p")])])
    };
    let (one, other) = (make(), make());
    assert_eq!(told(&one, &other), [""; 0]);
    assert_eq!(told(&one, &one), [""; 0]);
    // Nor is another order of the tools.
    let turned = catalog([server("s")
        .tools(tools(&["b", "a"]))
        .prompts(vec![prompt("p")])]);
    assert_eq!(told(&one, &turned), [""; 0]);
}

#[test]
fn another_name_for_models_is_a_change_of_the_tool() {
    let before = catalog([server("s").tools(tools(&["a"]))]);
    let after = catalog([server("s").style(NameStyle::Single).tools(tools(&["a"]))]);
    assert_eq!(told(&before, &after), ["Changed tool s/a mcp_s_a"]);
}

#[test]
fn a_tool_that_loses_its_name_to_another_server_is_gone() {
    let same = |_: &str, _: &str, _: NameForm| "mcp__same".to_owned();
    let before = catalog([server("b").naming(same).tools(tools(&["x"]))]);
    let first = server("a").naming(same).tools(tools(&["y"])).build(None);
    let after = before.with(Arc::new(first));
    assert_eq!(
        told(&before, &after),
        [
            "a added",
            "Added tool a/y mcp__same",
            "Removed tool b/x mcp__same",
        ]
    );
    assert_eq!(
        told(&after, &before),
        [
            "a removed",
            "Removed tool a/y mcp__same",
            "Added tool b/x mcp__same",
        ]
    );
}
