//! Enables and disables servers.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::EditError;
use super::add::{Habits, add};
use super::document::member;
use super::layout::{Container, Splice};
use super::remove::remove;
use super::render;

/// Disables a server: sets `enabled` to false if the entry has it, and otherwise adds `disabled`.
pub(super) fn disable(
    text: &str,
    entry: &Object<'_>,
    habits: &Habits,
) -> Result<Vec<Splice>, EditError> {
    let enabled = member(entry, "enabled")?;
    let disabled = member(entry, "disabled")?;
    // Neither key yet: add `disabled`, which enabling removes again.
    if enabled.is_none() && disabled.is_none() {
        let container = Container::of_object(entry);
        return Ok(add(text, &container, habits, |style| {
            render::member("disabled", &true.into(), style)
        }));
    }
    Ok(in_order([
        enabled.and_then(|(_, member)| set(member, false)),
        disabled.and_then(|(_, member)| set(member, true)),
    ]))
}

/// Enables a server: sets `enabled` to true if the entry has it, and removes `disabled`.
pub(super) fn enable(text: &str, entry: &Object<'_>) -> Result<Vec<Splice>, EditError> {
    let enabled = member(entry, "enabled")?;
    let disabled = member(entry, "disabled")?;
    // `disabled: false` may stay.
    let disabled = disabled.filter(|(_, member)| !is(&member.value, false));
    let set = enabled.and_then(|(_, member)| set(member, true));
    let Some((index, _)) = disabled else {
        return Ok(in_order([set, None]));
    };
    let mut splices = remove(text, &Container::of_object(entry), index);
    splices.extend(set);
    splices.sort_by_key(|splice| splice.range.start);
    Ok(splices)
}

fn set(member: &ObjectProp<'_>, to: bool) -> Option<Splice> {
    (!is(&member.value, to)).then(|| Splice {
        range: member.value.start()..member.value.end(),
        text: to.to_string(),
    })
}

fn is(value: &Value<'_>, expected: bool) -> bool {
    matches!(value, Value::BooleanLit(found) if found.value == expected)
}

fn in_order(splices: [Option<Splice>; 2]) -> Vec<Splice> {
    let mut splices: Vec<Splice> = splices.into_iter().flatten().collect();
    splices.sort_by_key(|splice| splice.range.start);
    splices
}
