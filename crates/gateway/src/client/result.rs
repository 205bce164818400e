//! Results as the client's version of the protocol has them.

use std::borrow::Cow;

use switchboard_wire::{Era, Raw, RpcError, Version, code};

/// The outcome of a request.
pub(super) type Outcome = Result<Answer, RpcError>;

/// A result, and members that go before its own.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) result: Raw,
    pub(super) added: Cow<'static, str>,
}

/// Modern: the member that says that a result is one.
const COMPLETE: &str = r#""resultType":"complete""#;

/// Modern: the member that keeps a result from clients with another credential.
const PRIVATE: &str = r#""cacheScope":"private""#;

fn is_private(scope: &str) -> bool {
    scope == r#""private""#
}

impl Answer {
    /// A result that we have written ourselves.
    pub(super) fn own(result: Raw) -> Self {
        let added = Cow::Borrowed("");
        Self { result, added }
    }

    /// An empty result.
    pub(super) fn empty() -> Self {
        Self::own(Raw::empty_object())
    }

    /// The result of a server, as it is for a client of the legacy era. A modern client's results say
    /// what they are, and those that it may cache (`is_cacheable`) for how long.
    ///
    /// # Errors
    /// Fails if the server says that the result is something else.
    pub(super) fn of_server(version: Version, result: Raw, is_cacheable: bool) -> Outcome {
        if version.era() == Era::Legacy {
            return Ok(Self::own(result));
        }
        let (mut kind, mut ttl, mut scope) = (None, false, None);
        result.each_member(|key, value| match key {
            "resultType" => kind = Some(value),
            "ttlMs" => ttl = true,
            // Of repeated members a public one decides: readers differ in which one they take.
            "cacheScope" => scope = Some(scope != Some(false) && is_private(value)),
            _ => {}
        });
        let is_complete = |kind: &str| {
            kind == r#""complete""# || result.part(kind).as_text().as_deref() == Some("complete")
        };
        // A legacy server's own member of that name. To a modern client it would mean questions.
        if !kind.is_none_or(is_complete) {
            let why = "the server's result says that it is of another type";
            return Err(RpcError::new(code::INTERNAL_ERROR, why));
        }
        let mut added = match kind {
            None => Cow::Borrowed(COMPLETE),
            Some(_) => Cow::Borrowed(""),
        };
        if is_cacheable {
            add(&mut added, !ttl, r#""ttlMs":0"#);
            add(&mut added, scope.is_none(), PRIVATE);
        }
        // What a server says to all, the policy lets one caller read: no cache may share it.
        let result = match scope {
            Some(false) => replaced(&result, "cacheScope", r#""private""#),
            _ => result,
        };
        Ok(Self { result, added })
    }
}

fn add(all: &mut Cow<'static, str>, is_missing: bool, member: &str) {
    if is_missing {
        let all = all.to_mut();
        if !all.is_empty() {
            all.push(',');
        }
        all.push_str(member);
    }
}

/// Writes the members of an object one after the other.
pub(super) struct Members(String);

impl Members {
    pub(super) fn new() -> Self {
        Self(String::from("{"))
    }

    /// For a result of our own: modern ones say that they are complete.
    pub(super) fn of_result(version: Version) -> Self {
        let is_modern = version.era() == Era::Modern;
        Self(String::from("{")).with_text(is_modern.then_some(COMPLETE))
    }

    fn with_text(mut self, member: Option<&str>) -> Self {
        self.0.push_str(member.unwrap_or_default());
        self
    }

    /// Adds a member whose value is JSON text.
    pub(super) fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        // Our own keys, which need no escapes.
        self.0.push_str(key);
        self.0.push_str("\":");
        self.0.push_str(value);
        self
    }

    /// Adds a member whose name is not ours.
    pub(super) fn named(&mut self, key: &str, value: &str) -> &mut Self {
        let key = serde_json::to_string(key).unwrap_or_default();
        let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        self.raw(key.unwrap_or_default(), value)
    }

    /// Adds a member whose value is a string.
    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        // A string always has a JSON form.
        let value = serde_json::to_string(value).unwrap_or_default();
        self.raw(key, &value)
    }

    pub(super) fn end(&mut self) -> String {
        let mut all = std::mem::take(&mut self.0);
        all.push('}');
        all
    }

    /// The object as a value. What was added is JSON, so it is one.
    pub(super) fn end_raw(&mut self) -> Raw {
        Raw::assembled(self.end())
    }
}

/// An object with another value of one member; everything else stays as it is.
pub(super) fn replaced(object: &Raw, member: &str, value: &str) -> Raw {
    let whole = object.as_str();
    let (mut text, mut done) = (String::with_capacity(whole.len() + value.len()), 0);
    object.each_member(|key, old| {
        if key == member
            // A part of the whole, so its place follows from its address.
            && let Some(start) = (old.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
            && let Some(before) = whole.get(done..start)
        {
            text.push_str(before);
            text.push_str(value);
            done = start + old.len();
        }
    });
    text.push_str(whole.get(done..).unwrap_or_default());
    Raw::parse(&text).unwrap_or_else(|_| object.clone())
}

/// The same; a member that is not there is added at the end.
pub(super) fn replaced_or_added(object: &Raw, member: &str, value: &str) -> Raw {
    if object.member(member).is_some() {
        return replaced(object, member, value);
    }
    let text = object.as_str();
    let Some(rest) = text.strip_suffix('}') else {
        return object.clone();
    };
    let comma = if rest.trim_ascii_end().ends_with('{') {
        ""
    } else {
        ","
    };
    Raw::assembled(format!("{rest}{comma}\"{member}\":{value}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str, is_cacheable: bool) -> Result<String, i64> {
        let result = Raw::parse(text).unwrap();
        let answer = Answer::of_server(Version::V2026_07_28, result, is_cacheable);
        match answer {
            Ok(answer) => {
                assert_eq!(answer.result.as_str(), text);
                Ok(answer.added.into_owned())
            }
            Err(error) => Err(error.code()),
        }
    }

    #[test]
    fn a_modern_result_says_what_it_is_once() {
        assert_eq!(added("{}", false).unwrap(), COMPLETE);
        assert_eq!(added(r#"{"resultType":"complete"}"#, false).unwrap(), "");
        assert_eq!(
            added(r#"{"resultType":"comple\u0074e"}"#, false).unwrap(),
            ""
        );
    }

    #[test]
    fn a_legacy_result_cannot_pose_as_questions() {
        let posing = r#"{"resultType":"input_required","inputRequests":{}}"#;
        assert_eq!(added(posing, false), Err(code::INTERNAL_ERROR));
        let legacy = Answer::of_server(Version::V2025_11_25, Raw::parse(posing).unwrap(), false);
        assert_eq!(legacy.unwrap().result.as_str(), posing);
    }

    #[test]
    fn a_result_that_may_be_cached_says_for_how_long() {
        let missing = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
        assert_eq!(added("{}", true).unwrap(), missing);
        let scoped = r#"{"cacheScope":"private","resultType":"complete"}"#;
        assert_eq!(added(scoped, true).unwrap(), r#""ttlMs":0"#);
        let whole = r#"{"cacheScope":"private","resultType":"complete","ttlMs":5}"#;
        assert_eq!(added(whole, true).unwrap(), "");
    }

    #[test]
    fn a_result_that_a_server_shows_to_all_is_private() {
        let written = |text: &str| {
            let result = Raw::parse(text).unwrap();
            let answer = Answer::of_server(Version::V2026_07_28, result, true).unwrap();
            (answer.result.as_str().to_owned(), answer.added.into_owned())
        };
        let public = r#"{ "cacheScope" : "public","ttlMs":5,"resultType":"complete"}"#;
        let private = public.replace("public", "private");
        assert_eq!(written(public), (private, String::new()));
        let twice = r#"{"cacheScope":"public","cacheScope":"private","ttlMs":5}"#;
        let private = twice.replace("public", "private");
        assert_eq!(written(twice), (private, COMPLETE.to_owned()));
    }

    #[test]
    fn a_member_is_replaced_and_the_rest_stays_as_it_is() {
        let whole = Raw::parse(r#"[{ "a" : [1.0], "b":2 ,"a":{}}]"#).unwrap();
        let object = whole.items().remove(0);
        let changed = replaced(&object, "a", "\"x\"");
        assert_eq!(changed.as_str(), r#"{ "a" : "x", "b":2 ,"a":"x"}"#);
        assert_eq!(replaced(&object, "c", "1"), object);
        let added = replaced_or_added(&object, "c", "1");
        assert_eq!(added.as_str(), r#"{ "a" : [1.0], "b":2 ,"a":{},"c":1}"#);
        let alone = replaced_or_added(&Raw::parse("{ }").unwrap(), "c", "1");
        assert_eq!(alone.as_str(), r#"{ "c":1}"#);
    }

    #[test]
    fn members_are_written_one_after_the_other() {
        let text = Members::new().raw("a", "1").text("b", "\"").end();
        assert_eq!(text, r#"{"a":1,"b":"\""}"#);
        let text = Members::of_result(Version::V2026_07_28)
            .raw("a", "[]")
            .end();
        assert_eq!(text, r#"{"resultType":"complete","a":[]}"#);
    }
}
