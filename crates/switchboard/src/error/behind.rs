//! The source chain of an error, with secrets removed.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::secret::Redactor;

/// The redacted text of an error and of each of its sources: a reporter that walks the chain shows
/// them all.
#[derive(Clone)]
pub(super) struct Behind {
    text: String,
    details: String,
    source: Option<Box<Self>>,
}

impl Behind {
    /// Redacts an error and its sources; `None` if no secret is in any of their texts.
    pub(super) fn of(error: &(dyn Error + 'static), secrets: &Redactor) -> Option<Self> {
        let (text, details) = (error.to_string(), format!("{error:?}"));
        let source = error.source();
        let source = source.map(|source| (source, Self::of(source, secrets)));
        let (text, details) = (secrets.redact(&text), secrets.redact(&details));
        let is_clean = matches!((&text, &details), (Cow::Borrowed(_), Cow::Borrowed(_)));
        let source = match source {
            None | Some((_, None)) if is_clean => return None,
            None => None,
            Some((source, None)) => Some(Self::as_it_is(source)),
            Some((_, behind)) => behind,
        };
        Some(Self {
            text: text.into_owned(),
            details: details.into_owned(),
            source: source.map(Box::new),
        })
    }

    fn as_it_is(error: &(dyn Error + 'static)) -> Self {
        Self {
            text: error.to_string(),
            details: format!("{error:?}"),
            source: error.source().map(Self::as_it_is).map(Box::new),
        }
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.details)
    }
}

impl Error for Behind {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref();
        source.map(|source| source as &(dyn Error + 'static))
    }
}
