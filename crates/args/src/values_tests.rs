use switchboard::schema::parameters::to_object;
use switchboard::schema::{Checker, SchemaLimits, Verdict};

use super::*;

const SCHEMA: &str = r#"{"properties":{
    "s":{"type":"string"},
    "i":{"type":"integer"},
    "n":{"type":"number"},
    "b":{"type":"boolean"},
    "z":{"type":"null"},
    "l":{"type":"array"},
    "o":{"type":"object"},
    "maybe":{"type":["integer","null"]},
    "text":{"anyOf":[{"type":"string"},{"type":"null"}]},
    "pick":{"enum":["1","auto",2,true]},
    "any":{}}}"#;

fn made(object_text: Option<&str>, words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let arguments = read(object_text, &words).map_err(|error| error.to_string())?;
    let schema = Raw::parse(SCHEMA).unwrap();
    let parameters = Parameters::read(&schema);
    let arguments = apply_types(arguments, &parameters);
    let checker = Checker::compile(&schema, &SchemaLimits::default());
    let typed = Raw::parse(&to_object(&arguments)).unwrap();
    let problems = match checker.check_text_now(&typed) {
        Verdict::Misfits(violations) => parameters.misfits(&violations, &arguments),
        _ => Vec::new(),
    };
    let problems: Vec<String> = problems
        .into_iter()
        .map(|misfit| format!("{}: {}", misfit.argument, misfit.problem))
        .collect();
    if problems.is_empty() || words.iter().any(|word| word.contains(":=")) {
        return Ok(to_object(&arguments));
    }
    Err(problems.join("\n"))
}

fn one(word: &str) -> String {
    made(None, &[word]).unwrap()
}

#[test]
fn a_string_stays_a_string() {
    assert_eq!(one("s=007"), r#"{"s":"007"}"#);
    assert_eq!(one("s=true"), r#"{"s":"true"}"#);
    assert_eq!(one("s="), r#"{"s":""}"#);
    assert_eq!(one("s=a=b:=c"), r#"{"s":"a=b:=c"}"#);
    assert_eq!(one("text=null"), r#"{"text":"null"}"#);
}

#[test]
fn what_the_schema_does_not_say_is_a_string() {
    assert_eq!(one("any=5"), r#"{"any":"5"}"#);
    assert_eq!(one("unknown=5"), r#"{"unknown":"5"}"#);
}

#[test]
fn other_kinds_are_read_as_json_and_keep_their_spelling() {
    assert_eq!(one("i=9007199254740993123"), r#"{"i":9007199254740993123}"#);
    assert_eq!(one("n=1.10"), r#"{"n":1.10}"#);
    assert_eq!(one("n=1e400"), r#"{"n":1e400}"#);
    assert_eq!(one("b=false"), r#"{"b":false}"#);
    assert_eq!(one("z=null"), r#"{"z":null}"#);
    assert_eq!(one("l=[1, 2]"), r#"{"l":[1, 2]}"#);
    assert_eq!(one(r#"o={"z":1,"a":2}"#), r#"{"o":{"z":1,"a":2}}"#);
    assert_eq!(one("maybe=null"), r#"{"maybe":null}"#);
    assert_eq!(one("maybe=3"), r#"{"maybe":3}"#);
}

#[test]
fn a_choice_that_is_no_string_is_found() {
    assert_eq!(one("pick=1"), r#"{"pick":"1"}"#);
    assert_eq!(one("pick=2"), r#"{"pick":2}"#);
    assert_eq!(one("pick=true"), r#"{"pick":true}"#);
    assert_eq!(one("pick=auto"), r#"{"pick":"auto"}"#);
}

#[test]
fn json_is_taken_as_it_is() {
    assert_eq!(one("s:=5"), r#"{"s":5}"#);
    assert_eq!(one(r#"any:={"a":[1.0]}"#), r#"{"any":{"a":[1.0]}}"#);
}

#[test]
fn a_text_that_cannot_be_what_is_wanted_is_named() {
    assert_eq!(
        made(None, &["i=ten", "n=0x10", "b=yes", "l=a,b"]),
        Err("i: expected integer, found \"ten\"\n\
             n: expected number, found \"0x10\"\n\
             b: expected boolean, found \"yes\"\n\
             l: expected array, found \"a,b\""
            .to_owned())
    );
    assert!(made(None, &["i=1.5"]).is_err());
    assert!(made(None, &["i="]).is_err());
}

#[test]
fn an_object_and_words_go_together() {
    assert_eq!(
        made(Some(r#" {"n":1.0,"z":null} "#), &["i=2"]),
        Ok(r#"{"n":1.0,"z":null,"i":2}"#.to_owned())
    );
}

#[test]
fn one_name_twice_is_refused() {
    let twice = Err("the argument \"s\" is given twice".to_owned());
    assert_eq!(made(None, &["s=1", "s:=2"]), twice);
    assert_eq!(made(Some(r#"{"s":1}"#), &["s=2"]), twice);
    assert_eq!(made(Some(r#"{"s":1,"s":2}"#), &[]), twice);
}

#[test]
fn words_that_are_no_arguments_are_refused() {
    let refused = |word| made(None, &[word]).unwrap_err();
    assert_eq!(
        refused("hello"),
        "cannot parse argument \"hello\": use key=value or key:=JSON"
    );
    assert_eq!(refused("=x"), "\"=x\" has no name before the \"=\"");
    assert_eq!(refused(":=1"), "\":=1\" has no name before the \"=\"");
    assert!(refused("s:=hello").starts_with("the value of \"s\" is not a JSON value: "));
    assert!(refused("s=@-").contains("--args -"));
    assert!(refused("s=@/nowhere/at/all").starts_with("s=@/nowhere/at/all: "));
}

#[test]
fn an_object_that_is_none_is_refused() {
    let refused = |object| made(Some(object), &[]).unwrap_err();
    assert_eq!(
        refused("[1]"),
        "--args must be a JSON object, such as '{\"key\": \"value\"}'"
    );
    assert!(refused("{").starts_with("--args is not a JSON value: "));
    assert!(refused("{} {}").starts_with("--args is not a JSON value: "));
}

#[test]
fn a_file_is_typed_like_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    std::fs::write(&path, "5\n").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(one(&format!("s=@{path}")), r#"{"s":"5\n"}"#);
    assert_eq!(one(&format!("i=@{path}")), r#"{"i":5}"#);
    std::fs::write(path, [0xff]).unwrap();
    assert!(
        made(None, &[&format!("s=@{path}")])
            .unwrap_err()
            .contains("it is not UTF-8")
    );
}
