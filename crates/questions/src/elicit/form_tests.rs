use switchboard_wire::FromRaw;

use super::super::{Answers, Kind, TextFormat};
use super::*;

fn read(schema: &str) -> Result<Form, Misread> {
    read_within(schema, &ElicitLimits::default())
}

fn read_within(schema: &str, limits: &ElicitLimits) -> Result<Form, Misread> {
    let text = format!(r#"{{"message":"Who?","requestedSchema":{schema}}}"#);
    let question = ElicitParams::from_raw(&Raw::parse(&text).unwrap()).unwrap();
    Form::read(&question, limits)
}

fn fields(fields: &str) -> Result<Form, Misread> {
    read(&format!(r#"{{"type":"object","properties":{fields}}}"#))
}

fn field(schema: &str) -> Field {
    fields(&format!(r#"{{"x":{schema}}}"#)).unwrap().fields()[0].clone()
}

/// What somebody types, and what is sent.
fn typed(schema: &str, text: &str) -> Result<String, String> {
    let read = field(schema).read(text);
    let sent = read.map(|value| value.as_str().to_owned());
    sent.map_err(|problem| problem.what)
}

#[test]
fn a_form_has_its_fields_in_order_with_all_that_is_said_of_them() {
    let form = read(
        r#"{"type":"object","properties":{
            "b":{"type":"string","title":"B","description":"the second","minLength":2,"maxLength":3,"default":"xy"},
            "a":{"type":"integer","minimum":1,"maximum":9.5},
            "m":{"type":"string","format":"email"}
        },"required":["a"]}"#,
    )
    .unwrap();
    assert_eq!(form.message(), "Who?");
    let names: Vec<&str> = form.fields().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "m"]);
    let b = form.field("b").unwrap();
    assert_eq!(
        (b.label(), b.description.as_deref()),
        ("B", Some("the second"))
    );
    assert_eq!(
        b.kind,
        Kind::Text {
            format: None,
            least: Some(2),
            most: Some(3)
        }
    );
    assert_eq!(b.default.as_ref().unwrap().as_str(), r#""xy""#);
    let a = form.field("a").unwrap();
    assert!(a.is_required && !b.is_required);
    assert_eq!(
        a.kind,
        Kind::Number {
            is_whole: true,
            least: Some(1.0),
            most: Some(9.5)
        }
    );
    let m = &form.field("m").unwrap().kind;
    assert!(matches!(
        m,
        Kind::Text {
            format: Some(TextFormat::Email),
            ..
        }
    ));
    assert_eq!(form.asks_for_secret(), None);
}

#[test]
fn what_is_typed_is_read_by_the_kind_of_the_field() {
    assert_eq!(
        typed(r#"{"type":"string"}"#, " a\"b "),
        Ok(r#"" a\"b ""#.to_owned())
    );
    assert_eq!(
        typed(r#"{"type":"string","format":"date"}"#, " 2026-07-28 "),
        Ok(r#""2026-07-28""#.to_owned())
    );
    assert_eq!(
        typed(r#"{"type":"number"}"#, " 1.10 "),
        Ok("1.10".to_owned())
    );
    assert_eq!(typed(r#"{"type":"integer"}"#, "3e2"), Ok("3e2".to_owned()));
    assert_eq!(typed(r#"{"type":"boolean"}"#, "Yes"), Ok("true".to_owned()));
    assert_eq!(typed(r#"{"type":"boolean"}"#, "n"), Ok("false".to_owned()));
    let one = r#"{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]}"#;
    assert_eq!(typed(one, "2"), Ok(r#""l""#.to_owned()));
    assert_eq!(typed(one, "small"), Ok(r#""s""#.to_owned()));
    let many = r#"{"type":"array","items":{"type":"string","enum":["a","b","c, d"]}}"#;
    assert_eq!(typed(many, "b, 1, b"), Ok(r#"["b","a"]"#.to_owned()));
    assert_eq!(typed(many, "c, d"), Ok(r#"["c, d"]"#.to_owned()));
    assert_eq!(typed(many, " "), Ok("[]".to_owned()));
}

#[test]
fn what_a_field_does_not_take_is_said_in_words() {
    let says = |schema: &str, text: &str| typed(schema, text).unwrap_err();
    let short = r#"{"type":"string","minLength":2,"maxLength":3}"#;
    assert_eq!(says(short, "ü"), "must have at least 2 characters");
    assert_eq!(says(short, "üüüü"), "must have at most 3 characters");
    assert_eq!(typed(short, "üüü"), Ok(r#""üüü""#.to_owned()));
    let email = r#"{"type":"string","format":"email"}"#;
    assert!(says(email, "x").starts_with("enter an email address"));
    assert_eq!(says(r#"{"type":"integer"}"#, "1.5"), "enter a whole number");
    assert_eq!(says(r#"{"type":"number"}"#, "one"), "enter a number");
    assert_eq!(says(r#"{"type":"number"}"#, "\"1\""), "enter a number");
    let ranged = r#"{"type":"number","minimum":1,"maximum":9}"#;
    assert_eq!(says(ranged, "0.5"), "must be at least 1");
    assert_eq!(says(ranged, "9.1"), "must be at most 9");
    assert_eq!(typed(ranged, "9"), Ok("9".to_owned()));
    assert_eq!(says(r#"{"type":"boolean"}"#, "1"), "enter yes or no");
    assert_eq!(
        says(r#"{"type":"string","enum":["a"]}"#, "b"),
        r#""b" is not one of the choices"#
    );
    let two = r#"{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["a","b","c"]}}"#;
    assert_eq!(says(two, ""), "must have at least 1 choices");
    assert_eq!(says(two, "a,b,c"), "must have at most 2 choices");
    let bytes = ElicitLimits::default().answer_bytes;
    let text = r#"{"type":"string"}"#;
    assert!(typed(text, &"x".repeat(bytes - 2)).is_ok());
    assert!(says(text, &"x".repeat(bytes - 1)).contains("at most"));
}

#[test]
fn a_default_that_the_field_would_not_take_is_none() {
    assert_eq!(
        field(r#"{"type":"integer","minimum":5,"default":3}"#).default,
        None
    );
    assert_eq!(
        field(r#"{"type":"string","enum":["a"],"default":"b"}"#).default,
        None
    );
    assert_eq!(field(r#"{"type":"string","default":null}"#).default, None);
    let kept = field(r#"{"type":"number","default":95.50}"#).default;
    assert_eq!(kept.unwrap().as_str(), "95.50");
}

#[test]
fn a_field_that_may_be_null_is_one_that_may_be_left_out() {
    let either =
        r#"{"anyOf":[{"type":"integer","minimum":2},{"type":"null"}],"default":null,"title":"N"}"#;
    let field = field(either);
    assert!(matches!(field.kind, Kind::Number { is_whole: true, .. }));
    assert_eq!((field.label(), &field.default), ("N", &None));
    assert!(matches!(
        super::tests::field(r#"{"type":["boolean","null"]}"#).kind,
        Kind::Truth
    ));
}

#[test]
fn a_form_that_nobody_can_fill_in_is_refused_by_name() {
    for (schema, what) in [
        ("[]", "the requestedSchema is no object"),
        (
            r#"{"properties":[]}"#,
            "the properties of the form are no object",
        ),
        (r#"{"properties":{"x":1}}"#, r#"the field "x" is no object"#),
        (
            r#"{"properties":{"x":{}}}"#,
            r#"the field "x" does not say of which type it is"#,
        ),
        (
            r#"{"properties":{"x":{"type":"object"}}}"#,
            r#"the field "x" is a "object" that no form has a field for"#,
        ),
        (
            r#"{"properties":{"x":{"type":"array","items":{"type":"string"}}}}"#,
            r#"the field "x" is a list of something else than choices"#,
        ),
        (
            r##"{"properties":{"x":{"$ref":"#/y"}}}"##,
            r#"the field "x" does not say of which type it is"#,
        ),
        (
            r#"{"properties":{"x":{"type":"string","minLength":3,"maxLength":2}}}"#,
            r#"the field "x" wants more than it takes"#,
        ),
        (
            r#"{"properties":{"x":{"type":"string","minLength":-1}}}"#,
            r#"the field "x" has a minLength that is no bound"#,
        ),
        (
            r#"{"properties":{"x":{"type":"boolean"},"x":{"type":"boolean"}}}"#,
            r#"the field "x" is there twice"#,
        ),
        (
            r#"{"properties":{},"required":["y"]}"#,
            r#"the field "y" is required and not there"#,
        ),
    ] {
        assert_eq!(read(schema).unwrap_err().to_string(), what, "{schema}");
    }
    let url = r#"{"message":"?","mode":"url","url":"https://example.com"}"#;
    let url = ElicitParams::from_raw(&Raw::parse(url).unwrap()).unwrap();
    assert!(Form::read(&url, &ElicitLimits::default()).is_err());
}

#[test]
fn a_form_is_taken_up_to_its_bounds() {
    let limits = ElicitLimits {
        fields: 2,
        name_bytes: 3,
        text_bytes: 4,
        message_bytes: 4,
        ..ElicitLimits::default()
    };
    let whole = r#"{"properties":{"abc":{"type":"string","title":"abcd"},"d":{"type":"string","default":"ab"}}}"#;
    assert!(read_within(whole, &limits).is_ok());
    for over in [
        r#"{"properties":{"a":{"type":"boolean"},"b":{"type":"boolean"},"c":{"type":"boolean"}}}"#,
        r#"{"properties":{"abcd":{"type":"boolean"}}}"#,
        r#"{"properties":{"a":{"type":"boolean","title":"abcde"}}}"#,
        r#"{"properties":{"a":{"type":"boolean","description":"abcde"}}}"#,
        r#"{"properties":{"a":{"type":"string","default":"abc"}}}"#,
    ] {
        assert!(read_within(over, &limits).is_err(), "{over}");
    }
    let message_bytes = 3;
    let limits = ElicitLimits {
        message_bytes,
        ..limits
    };
    assert!(read_within("{}", &limits).is_err());
}

#[test]
fn an_answer_is_checked_as_a_whole_and_keeps_its_spelling() {
    let form = read(
        r#"{"properties":{"a":{"type":"number"},"b":{"type":"string"},"c\"":{"type":"boolean"}},"required":["a"]}"#,
    )
    .unwrap();
    let value = |name: &str, json: &str| (name.to_owned(), Raw::parse(json).unwrap());
    let answer = form
        .answer(&[value("c\"", "true"), value("a", "1.10")])
        .unwrap();
    assert_eq!(answer.as_str(), r#"{"a":1.10,"c\"":true}"#);
    let problems = form
        .answer(&[value("b", "1"), value("z", "1")])
        .unwrap_err();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "a: a value is required",
            "b: enter text",
            "z: the form has no such field"
        ]
    );
    assert_eq!(
        read("{}").unwrap().answer(&[]).unwrap(),
        Raw::empty_object()
    );
}

#[test]
fn known_answers_fill_a_form_in_beside_its_defaults() {
    let form = read(
        r#"{"properties":{"age":{"type":"integer","default":30},"name":{"type":"string"},"on":{"type":"boolean","default":true}},"required":["name"]}"#,
    )
    .unwrap();
    let names: Vec<String> = form.defaults().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["age", "on"]);
    let answers = Answers::new()
        .text("name", "Ada")
        .text("on", "no")
        .text("else", "x");
    assert_eq!(
        answers.fill(&form).unwrap().as_str(),
        r#"{"age":30,"name":"Ada","on":false}"#
    );
    let json = answers.json("age", Raw::parse("3.0").unwrap());
    assert_eq!(
        json.fill(&form).unwrap().as_str(),
        r#"{"age":3.0,"name":"Ada","on":false}"#
    );
    assert_eq!(
        Answers::new().fill(&form).unwrap_err()[0].to_string(),
        "name: a value is required"
    );
    let wrong = json.text("age", "old");
    assert_eq!(
        wrong.fill(&form).unwrap_err()[0].to_string(),
        "age: enter a whole number"
    );
}
