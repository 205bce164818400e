//! What changes a fingerprint, and what does not.

use std::path::PathBuf;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::claim;
use crate::spec::{Layer, Origin, ServerName};
use crate::trust::{Claim, Standing, Store};

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z$]{0,4}".prop_map(Value::from),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map("[a-z]{0,3}|\\PC{0,3}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn entry() -> impl Strategy<Value = Value> {
    btree_map("command|args|env|headers|[a-z]{1,6}", document(), 1..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn path() -> impl Strategy<Value = PathBuf> {
    #[cfg(unix)]
    let path = vec(any::<u8>(), 1..12).prop_map(|bytes| {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(bytes).into()
    });
    #[cfg(not(unix))]
    let path = any::<String>().prop_map(PathBuf::from);
    path
}

prop_compose! {
    fn any_claim()(
        name in "[a-z]{1,6}",
        file in path(),
        entry in entry(),
        program in proptest::option::of(path()),
        references in vec("\\$\\{[A-Z]{1,3}\\}", 0..4),
    ) -> Claim {
        let server = ServerName::parse(&name).unwrap();
        let mut claim = Claim::new(server, file, Layer::Project, entry);
        (claim.program, claim.references) = (program, references);
        claim
    }
}

/// The same document with the keys of every object the other way round.
fn reordered(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reordered).collect(),
        Value::Object(members) => {
            let members = members.iter().rev();
            members
                .map(|(key, member)| (key.clone(), reordered(member)))
                .collect::<Map<_, _>>()
                .into()
        }
        other => other.clone(),
    }
}

/// How many single changes [`mutate`] knows for a document.
fn places(value: &Value) -> usize {
    match value {
        Value::Array(items) => 2 + items.iter().map(places).sum::<usize>(),
        Value::Object(members) => {
            2 + members
                .values()
                .map(|member| 2 + places(member))
                .sum::<usize>()
        }
        _ => 2,
    }
}

/// Changes one thing: a leaf, a key, what is in a list or an object.
fn mutate(value: &mut Value, mut at: usize) {
    match (at, &mut *value) {
        (0, Value::Array(items)) => items.push(Value::Null),
        (0, Value::Object(members)) => drop(members.insert("+new+".into(), Value::Null)),
        (0, leaf) => *leaf = other_than(leaf),
        (1, whole) => *whole = json!([whole.clone()]),
        (_, Value::Array(items)) => {
            at -= 2;
            for item in items {
                if at < places(item) {
                    return mutate(item, at);
                }
                at -= places(item);
            }
        }
        (_, Value::Object(members)) => {
            at -= 2;
            for key in members.keys().cloned().collect::<Vec<_>>() {
                match at {
                    0 => {
                        let member = members.remove(&key).unwrap();
                        members.insert(format!("{key}+"), member);
                        return;
                    }
                    1 => {
                        members.remove(&key);
                        return;
                    }
                    _ => at -= 2,
                }
                let member = members.get_mut(&key).unwrap();
                if at < places(member) {
                    return mutate(member, at);
                }
                at -= places(member);
            }
        }
        _ => unreachable!("a leaf has two places"),
    }
}

fn other_than(leaf: &Value) -> Value {
    match leaf {
        Value::Null => json!(false),
        Value::Bool(is) => json!(!is),
        Value::Number(number) => json!(number.to_string()),
        Value::String(text) if text.len() % 2 == 0 => json!(format!("{text} ")),
        Value::String(text) => json!(text.chars().skip(1).collect::<String>()),
        _ => Value::Null,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn order_white_space_and_place_never_change_a_fingerprint(
        claim in any_claim(),
        line in any::<usize>(),
    ) {
        let mut other = claim.clone();
        let text = serde_json::to_string_pretty(&reordered(&claim.entry)).unwrap();
        other.entry = serde_json::from_str(&text).unwrap();
        other.references.reverse();
        other.references.extend(claim.references.first().cloned());
        other.line = Some(line);
        other.layer = Layer::Ancestor("/src".into());
        other.shadows = vec![Origin::program()];
        prop_assert_eq!(claim.fingerprint(), other.fingerprint());
    }

    #[test]
    fn one_changed_value_or_key_changes_it_and_is_told(
        claim in any_claim(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut other = claim.clone();
        mutate(&mut other.entry, at.index(places(&claim.entry)));
        prop_assert_ne!(&claim.entry, &other.entry);
        prop_assert_ne!(claim.fingerprint(), other.fingerprint());

        let store = Store::in_memory();
        store.approve(&claim).unwrap();
        prop_assert_eq!(store.standing(&claim).unwrap(), Standing::Approved);
        match store.standing(&other).unwrap() {
            Standing::Changed(changes) => prop_assert!(!changes.is_empty()),
            standing => prop_assert!(false, "{:?}", standing),
        }
    }

    #[test]
    fn another_file_name_program_or_reference_changes_it(
        claim in any_claim(),
        file in path(),
        program in proptest::option::of(path()),
        reference in "\\$\\{file:[a-z]{1,3}\\}",
    ) {
        let of = |change: &dyn Fn(&mut Claim)| {
            let mut other = claim.clone();
            change(&mut other);
            other.fingerprint()
        };
        let whole = claim.fingerprint();
        // As bytes, because `a/` and `a` are equal paths and two texts.
        let is_same_file = file.as_os_str() == claim.file.as_os_str();
        let is_same_program = program.as_ref().map(|path| path.as_os_str())
            == claim.program.as_ref().map(|path| path.as_os_str());
        prop_assert_eq!(of(&|other| other.file.clone_from(&file)) == whole, is_same_file);
        prop_assert_eq!(of(&|other| other.program.clone_from(&program)) == whole, is_same_program);
        prop_assert_ne!(of(&|other| other.references.push(reference.clone())), whole);
        let name = ServerName::parse(&format!("{}2", claim.server)).unwrap();
        prop_assert_ne!(of(&|other| other.server = name.clone()), whole);
        if let Some(first) = claim.references.first() {
            let fewer = of(&|other| other.references.retain(|other| other != first));
            prop_assert_ne!(fewer, whole);
        }
    }
}

#[test]
fn a_fingerprint_is_the_same_in_every_version_and_on_every_machine() {
    let mut claim = claim(json!({"env": {"A": "${X}"}, "command": "npx", "timeout": 1.5}));
    claim.program = Some("/usr/bin/npx".into());
    claim.references = vec!["${X}".to_owned()];
    let text = r#"{"entry":{"command":"npx","env":{"A":"${X}"},"timeout":1.5e0},"file":"/src/app/.mcp.json","program":"/usr/bin/npx","references":["${X}"],"server":"github","version":1}"#;
    assert_eq!(claim.fingerprint(), crate::trust::Fingerprint::of(text));
}

#[test]
fn parts_cannot_take_each_others_place() {
    let mut one = claim(json!({"command": "x"}));
    let mut two = one.clone();
    one.references = vec!["a".into(), "b".into()];
    two.references = vec!["a\",\"b".into()];
    assert_ne!(one.fingerprint(), two.fingerprint());
    one.references.clear();
    two.references.clear();
    one.program = Some("null".into());
    assert_ne!(one.fingerprint(), two.fingerprint());
}

#[test]
fn an_added_passthrough_asks_again_and_is_shown() {
    let store = Store::in_memory();
    let old = claim(json!({"command": "sh"}));
    store.approve(&old).unwrap();
    let new = claim(json!({"command": "sh", "env_passthrough": ["AWS_SECRET_ACCESS_KEY"]}));
    let Standing::Changed(changes) = store.standing(&new).unwrap() else {
        panic!("it is another one");
    };
    let change = changes.first().unwrap();
    assert_eq!(change.pointer, "/env_passthrough/0");
    assert_eq!(change.before, None);
    assert_eq!(change.after.as_deref(), Some("\"AWS_SECRET_ACCESS_KEY\""));
}
