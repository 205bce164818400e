//! The examples of RFC 6570, section 3.2, and what is no template.

use super::*;

fn fills() -> BTreeMap<String, Fill> {
    let list = |items: &[&str]| Fill::List(items.iter().map(|item| (*item).to_owned()).collect());
    let pairs = |items: &[(&str, &str)]| {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Fill::Pairs(items.iter().map(own).collect())
    };
    let keys = [(";", ";"), (".", "."), (",", ",")];
    let all: [(&str, Fill); 15] = [
        ("count", list(&["one", "two", "three"])),
        ("dom", list(&["example", "com"])),
        ("dub", "me/too".into()),
        ("hello", "Hello World!".into()),
        ("half", "50%".into()),
        ("var", "value".into()),
        ("who", "fred".into()),
        ("base", "http://example.com/home/".into()),
        ("path", "/foo/bar".into()),
        ("list", list(&["red", "green", "blue"])),
        (
            "keys",
            pairs(&[
                ("semi", keys[0].0),
                ("dot", keys[1].0),
                ("comma", keys[2].0),
            ]),
        ),
        ("v", "6".into()),
        ("x", "1024".into()),
        ("y", "768".into()),
        ("empty", "".into()),
    ];
    let mut all: BTreeMap<_, _> = all.map(|(name, fill)| (name.to_owned(), fill)).into();
    all.insert("empty_keys".to_owned(), Fill::Pairs(Vec::new()));
    all
}

#[track_caller]
fn expands(pairs: &[(&str, &str)]) {
    for (template, address) in pairs {
        let template = UriTemplate::parse(template).unwrap();
        assert_eq!(template.fill(&fills()).unwrap(), *address, "{template:?}");
    }
}

#[test]
fn variables_are_put_in_as_they_are_combined() {
    expands(&[
        ("{count}", "one,two,three"),
        ("{count*}", "one,two,three"),
        ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("{&count*}", "&count=one&count=two&count=three"),
    ]);
}

#[test]
fn simple_blanks_escape_all_that_has_a_meaning() {
    expands(&[
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{list}", "red,green,blue"),
        ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
    ]);
}

#[test]
fn reserved_blanks_and_fragments_keep_it() {
    expands(&[
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"),
        ("O{+undef}X", "OX"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+list}", "red,green,blue"),
        ("{+list*}", "red,green,blue"),
        ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{#var}", "#value"),
        ("{#hello}", "#Hello%20World!"),
        ("{#half}", "#50%25"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("{#path:6}/here", "#/foo/b/here"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
    ]);
}

#[test]
fn labels_and_segments_begin_with_what_parts_them() {
    expands(&[
        ("{.who}", ".fred"),
        ("{.who,who}", ".fred.fred"),
        ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.var}", "X.value"),
        ("X{.empty}", "X."),
        ("X{.undef}", "X"),
        ("X{.var:3}", "X.val"),
        ("X{.list}", "X.red,green,blue"),
        ("X{.list*}", "X.red.green.blue"),
        ("X{.empty_keys}", "X"),
        ("X{.empty_keys*}", "X"),
        ("{/who}", "/fred"),
        ("{/who,who}", "/fred/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/var:1,var}", "/v/value"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
    ]);
}

#[test]
fn parameters_and_queries_are_named() {
    expands(&[
        ("{;who}", ";who=fred"),
        ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,undef,who}", ";v=6;who=fred"),
        ("{;x,y,undef}", ";x=1024;y=768"),
        ("{;hello:5}", ";hello=Hello"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?who}", "?who=fred"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"),
        ("{?list}", "?list=red,green,blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="),
        ("{&list*}", "&list=red&list=green&list=blue"),
    ]);
}

fn expand(template: &str, given: &[(&str, &str)]) -> Result<String, TemplateError> {
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), Fill::from(*text));
    UriTemplate::parse(template)?.expand(&given.iter().map(own).collect())
}

#[test]
fn what_is_no_part_of_a_query_has_to_be_filled_in() {
    let template = "file:///{user-id}/{b}{?page,limit}";
    let missing = Err(TemplateError::Missing {
        names: vec!["b".to_owned(), "user-id".to_owned()],
    });
    assert_eq!(expand(template, &[("page", "1")]), missing);
    let address = Ok("file:///7/x%2Fy".to_owned());
    assert_eq!(expand(template, &[("user-id", "7"), ("b", "x/y")]), address);
    let unknown = Err(TemplateError::Unknown {
        names: vec!["c".to_owned()],
    });
    let given = [("user-id", "7"), ("b", "x"), ("c", "")];
    assert_eq!(expand(template, &given), unknown);
    let template = UriTemplate::parse(template).unwrap();
    let variables: Vec<_> = template.variables().collect();
    let wanted = [
        ("user-id", true),
        ("b", true),
        ("page", false),
        ("limit", false),
    ];
    assert_eq!(variables, wanted);
}

#[test]
fn what_is_no_template_is_told_so() {
    for text in [
        "{",
        "}",
        "{}",
        "{a",
        "a}",
        "{{a}}",
        "{a,}",
        "{a b}",
        "{=a}",
        "{|a}",
        "{a:}",
        "{a:0}",
        "{a:10000}",
        "{a:x}",
        "{*}",
        "{+}",
        "{\u{e4}}",
    ] {
        let read = UriTemplate::parse(text);
        let is_malformed = matches!(read, Err(TemplateError::Malformed { .. }));
        assert!(is_malformed, "{text}: {read:?}");
    }
}

#[test]
fn a_list_has_no_beginning() {
    let fills = [("a".to_owned(), Fill::List(vec!["x".to_owned()]))];
    let template = UriTemplate::parse("{a:3}").unwrap();
    let name = "a".to_owned();
    let filled = template.expand(&fills.into());
    assert_eq!(filled, Err(TemplateError::NoText { name }));
}

#[test]
fn text_around_blanks_is_escaped_where_it_has_to_be() {
    assert_eq!(
        expand("x:a b\u{e4}%20%zz{v}", &[("v", "1")]).unwrap(),
        "x:a%20b%C3%A4%20%25zz1"
    );
}
