//! Tests of the checker, limit by limit and attack by attack.

mod drafts;
mod hostile;
mod limits;
mod messages;

use switchboard_wire::Raw;

use super::{Checker, SchemaLimits, Verdict, Violation};

fn compiled(schema: &str) -> Checker {
    Checker::compile(&Raw::parse(schema).unwrap(), &SchemaLimits::default())
}

fn verdict(schema: &str, value: &str) -> Verdict {
    compiled(schema).check_text_now(&Raw::parse(value).unwrap())
}

fn violations(schema: &str, value: &str) -> Vec<Violation> {
    match verdict(schema, value) {
        Verdict::Misfits(violations) => violations,
        other => panic!("{schema} against {value}: {other:?}"),
    }
}

fn messages(schema: &str, value: &str) -> Vec<String> {
    let found = violations(schema, value);
    found.into_iter().map(|one| one.message).collect()
}
