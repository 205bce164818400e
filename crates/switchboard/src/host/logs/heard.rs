//! What was heard of servers, and how it is made safe to show.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use switchboard_wire::{LogLevel, Raw};

use super::{Log, Said};
use crate::secret::Redactor;
use crate::spec::ServerName;
use crate::transport::Watched;

/// A secret that begins before the end of what is kept is found if it ends within so many bytes.
const SLACK: usize = 4 * 1024;

/// What was heard, as it came.
#[derive(Clone)]
pub(super) enum Heard {
    Log(Arc<Kept>),
    /// Lines that came before anybody could listen.
    Missed(u64),
}

pub(super) struct Kept {
    pub(super) at: SystemTime,
    pub(super) server: ServerName,
    pub(super) said: Unsafe,
    pub(super) secrets: Arc<Redactor>,
}

/// What a server said, secrets and all.
pub(super) enum Unsafe {
    Stderr(Part),
    Message {
        level: Option<LogLevel>,
        logger: Option<Part>,
        data: Part,
    },
    Announced {
        method: Part,
        params: Option<Part>,
    },
}

/// A text, or its beginning.
pub(super) struct Part {
    text: String,
    whole: usize,
    /// How much of it is shown.
    most: usize,
}

impl Part {
    pub(super) fn of(text: &str, whole: usize, most: usize) -> Self {
        let kept = beginning(text, most.saturating_add(SLACK)).to_owned();
        Self {
            text: kept,
            whole,
            most,
        }
    }

    pub(super) fn whole(text: &str, most: usize) -> Self {
        Self::of(text, text.len(), most)
    }

    fn cut_from(&self) -> Option<usize> {
        (self.whole > self.most.min(self.text.len())).then_some(self.whole)
    }

    fn shown<'t>(&'t self, secrets: &Redactor) -> Cow<'t, str> {
        let text = secrets.redact(&self.text);
        match self.cut_from() {
            Some(_) => Cow::Owned(beginning(&text, self.most).to_owned()),
            None => text,
        }
    }

    /// The same for a JSON text; a string where it was cut, or is no JSON without its secrets.
    fn shown_json(&self, secrets: &Redactor) -> Raw {
        let shown = self.shown(secrets);
        let parsed = match self.cut_from() {
            None => Raw::parse(&shown).ok(),
            Some(_) => None,
        };
        parsed.unwrap_or_else(|| Raw::of(&*shown).unwrap_or_else(|_| Raw::null()))
    }
}

/// At most that many bytes of a text.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

impl Heard {
    /// Makes it something that can be shown, in the time of whoever reads it.
    pub(super) fn shown(&self) -> Watched<Log> {
        let kept = match self {
            Self::Log(kept) => kept,
            Self::Missed(lines) => return Watched::Missed(*lines),
        };
        let secrets = &*kept.secrets;
        let text = |part: &Part| part.shown(secrets).into_owned();
        let json = |part: &Part| part.shown_json(secrets);
        let (said, cut_from) = match &kept.said {
            Unsafe::Stderr(line) => (Said::Stderr(text(line)), line.cut_from()),
            Unsafe::Message {
                level,
                logger,
                data,
            } => {
                let said = Said::Message {
                    level: *level,
                    logger: logger.as_ref().map(text),
                    data: json(data),
                };
                (said, data.cut_from())
            }
            Unsafe::Announced { method, params } => {
                let said = Said::Announced {
                    method: text(method),
                    params: params.as_ref().map(json),
                };
                (said, params.as_ref().and_then(Part::cut_from))
            }
        };
        Watched::Item(Log {
            server: kept.server.clone(),
            at: kept.at,
            said,
            cut_from,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery";

    fn secrets() -> Redactor {
        [SECRET].into_iter().collect()
    }

    #[test]
    fn a_text_at_the_limit_is_whole_and_one_over_it_is_cut() {
        let text = |part: &Part| part.shown(&Redactor::new()).into_owned();
        let whole = Part::whole("12345", 5);
        assert_eq!((text(&whole).as_str(), whole.cut_from()), ("12345", None));
        let cut = Part::whole("1234\u{e9}", 5);
        assert_eq!((text(&cut).as_str(), cut.cut_from()), ("1234", Some(6)));
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_text_is_cut() {
        for most in 0..40 {
            let said = format!("it is {SECRET}, isn't it");
            let shown = Part::whole(&said, most).shown(&secrets()).into_owned();
            assert!("it is ***, isn't it".starts_with(&shown), "{most}: {shown}");
        }
    }

    #[test]
    fn json_stays_json_without_its_secrets() {
        let json = |text: &str, most| {
            let shown = Part::whole(text, most).shown_json(&secrets());
            shown.as_str().to_owned()
        };
        let said = format!(r#"{{"a": ["{SECRET}", 1.50]}}"#);
        assert_eq!(json(&said, 100), r#"{"a": ["***", 1.50]}"#);
        assert_eq!(json(&said, 8), r#""{\"a\": [\"""#);
    }
}
