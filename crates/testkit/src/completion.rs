//! Completions: of the arguments of the prompt `travel`, and of notes by topic and number.

use serde_json::{Value, json};

use crate::conformance;

/// Countries, and cities in them.
const COUNTRIES: [(&str, &[&str]); 3] = [
    ("France", &["Lyon", "Marseille", "Paris"]),
    ("Japan", &["Kyoto", "Osaka", "Tokyo"]),
    ("Jordan", &["Amman", "Petra"]),
];

const TOPICS: [&str; 3] = ["birds", "books", "trees"];

/// More than one answer may contain.
const NUMBERS: u32 = 120;

pub(crate) const TEMPLATE: &str = "note://{topic}/{number}";

/// The owner of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of<'a> {
    Prompt(&'a str),
    Template(&'a str),
}

/// Returns all values of an argument. `known` returns the value of an argument that is already set.
pub(crate) fn values<'a>(
    of: Of<'_>,
    argument: &str,
    known: impl Fn(&str) -> Option<&'a str>,
) -> Vec<String> {
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match (of, argument) {
        (Of::Prompt("travel"), "country") => owned(&COUNTRIES.map(|(country, _)| country)),
        (Of::Prompt("travel"), "city") => {
            let country = known("country");
            let meant = |name: &str| country.is_none_or(|country| country == name);
            let meant = COUNTRIES.iter().filter(|(name, _)| meant(name));
            let cities: Vec<&str> = meant.flat_map(|(_, cities)| *cities).copied().collect();
            owned(&cities)
        }
        (Of::Prompt("greeting"), "formal") => owned(&["false", "true"]),
        (Of::Template(TEMPLATE), "topic") => owned(&TOPICS),
        (Of::Template(TEMPLATE), "number") => (1..=NUMBERS).map(|n| n.to_string()).collect(),
        (of, argument) => conformance::completions(of, argument),
    }
}

/// The template of the notes by topic and number.
pub(crate) fn template() -> Value {
    json!({
        "uriTemplate": TEMPLATE,
        "name": "numbered_note",
        "title": "Note by topic and number",
        "description": "One of many notes; what topics and numbers there are can be completed",
        "mimeType": "text/plain",
    })
}

/// Returns the text of a note that the template names; `None` for any other URI.
pub(crate) fn note(uri: &str) -> Option<String> {
    let (topic, number) = uri.strip_prefix("note://")?.split_once('/')?;
    let is_there = number.parse::<u32>().ok()?;
    let is_there = (1..=NUMBERS).contains(&is_there) && TOPICS.contains(&topic);
    is_there.then(|| format!("This is note {number} about {topic}.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_hangs_on_the_country() {
        let cities = |country| values(Of::Prompt("travel"), "city", |_| country);
        assert_eq!(cities(Some("Jordan")), ["Amman", "Petra"]);
        assert_eq!(cities(Some("Atlantis")), [""; 0]);
        assert_eq!(cities(None).len(), 8);
    }

    #[test]
    fn every_note_that_can_be_completed_can_be_read() {
        let all = |argument| values(Of::Template(TEMPLATE), argument, |_| None);
        for topic in all("topic") {
            for number in all("number") {
                let uri = format!("note://{topic}/{number}");
                let text = format!("This is note {number} about {topic}.\n");
                assert_eq!(note(&uri), Some(text));
            }
        }
        for uri in [
            "note:///1",
            "note://birds/0",
            "note://birds/121",
            "note://birds/x",
            "note://stones/1",
            "note://birds/1/2",
        ] {
            assert_eq!(note(uri), None, "{uri}");
        }
    }
}
