//! Addresses with blanks: RFC 6570, all four levels.
//!
//! The crate `iri-string` expands templates too, but servers choose ours: it refuses names with a hyphen
//! and text that has to be escaped, does not tell a query's variables from others, and panics on a
//! prefix of more than 65,535 characters (`{a:70000}`, iri-string 0.7.14).

use std::collections::{BTreeMap, BTreeSet};

/// A family of addresses: `file:///logs/{day}{?level,limit}`.
///
/// Names of variables may have a hyphen in them, which servers use and the RFC does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Blank {
        style: &'static Style,
        variables: Vec<Variable>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    name: String,
    form: VariableForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VariableForm {
    Whole,
    /// At most so many characters of it.
    Prefix(usize),
    /// Each item of a list for itself.
    Exploded,
}

/// A value for a variable of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// A text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// Names with texts.
    Pairs(Vec<(String, String)>),
}

impl From<&str> for Fill {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Fill {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The reason why a template cannot be parsed or expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is none.
    #[error("the template cannot be read: {what}")]
    Malformed {
        /// The mistake.
        what: String,
    },
    /// Blanks are not filled in.
    #[error("not filled in: {}", .names.join(", "))]
    Missing {
        /// The variables without a value.
        names: Vec<String>,
    },
    /// There are no such blanks.
    #[error("the template has no {}", .names.join(", "))]
    Unknown {
        /// The unknown variables.
        names: Vec<String>,
    },
    /// Only a text has a beginning.
    #[error("{name} takes one text")]
    NoText {
        /// The blank.
        name: String,
    },
}

/// The rules by which an operator's variables are expanded: the table of RFC 6570, appendix A.
#[derive(Debug, PartialEq, Eq)]
struct Style {
    operator: Option<char>,
    first: &'static str,
    between: &'static str,
    is_named: bool,
    /// The text that follows the name of an empty value.
    if_empty: &'static str,
    keeps_reserved: bool,
    /// True if the address still makes sense without the variable.
    is_optional: bool,
}

const fn style(
    operator: Option<char>,
    first: &'static str,
    between: &'static str,
    is_named: bool,
    if_empty: &'static str,
    keeps_reserved: bool,
) -> Style {
    Style {
        operator,
        first,
        between,
        is_named,
        if_empty,
        keeps_reserved,
        is_optional: is_named,
    }
}

static STYLES: [Style; 8] = [
    // The operator, the first text, the text between, named, the text for an empty value, and
    // whether reserved characters stay as they are.
    style(None, "", ",", false, "", false),
    style(Some('+'), "", ",", false, "", true),
    style(Some('#'), "#", ",", false, "", true),
    style(Some('.'), ".", ".", false, "", false),
    style(Some('/'), "/", "/", false, "", false),
    style(Some(';'), ";", ";", true, "", false),
    style(Some('?'), "?", "&", true, "=", false),
    style(Some('&'), "&", "&", true, "=", false),
];

impl UriTemplate {
    /// Returns true if a text has variables, or looks as if it had.
    pub fn is_one(text: &str) -> bool {
        text.contains('{')
    }

    /// Reads a template.
    ///
    /// # Errors
    /// Fails if the text is not a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            parts.push(plain(before)?);
            let closed = after.split_once('}');
            let (inside, after) = closed.ok_or_else(|| malformed("a `{` without its `}`"))?;
            parts.push(blank(inside)?);
            rest = after;
        }
        parts.push(plain(rest)?);
        Ok(Self { parts })
    }

    /// Its blanks, each with whether it has to be filled in. What makes up a query need not be.
    pub fn variables(&self) -> impl Iterator<Item = (&str, bool)> {
        let mut seen = BTreeSet::new();
        self.blanks()
            .filter(move |(_, variable)| seen.insert(&variable.name))
            .map(|(style, variable)| (variable.name.as_str(), !style.is_optional))
    }

    fn blanks(&self) -> impl Iterator<Item = (&'static Style, &Variable)> {
        self.parts.iter().flat_map(|part| {
            let (style, variables): (&'static Style, &[Variable]) = match part {
                TemplatePart::Text(_) => (&STYLES[0], &[]),
                TemplatePart::Blank { style, variables } => (style, variables),
            };
            variables.iter().map(move |variable| (style, variable))
        })
    }

    /// The address with the blanks filled in.
    ///
    /// # Errors
    /// Fails if a variable outside of the query has no value, or a value has no variable.
    pub fn expand(&self, fills: &BTreeMap<String, Fill>) -> Result<String, TemplateError> {
        // Missing values before unknown ones: a misspelled name shows up as both, and this says
        // what is wanted.
        let required = self
            .blanks()
            .filter(|(style, variable)| !style.is_optional && !fills.contains_key(&variable.name));
        let missing: BTreeSet<String> = required.map(|(_, one)| one.name.clone()).collect();
        if !missing.is_empty() {
            let names = missing.into_iter().collect();
            return Err(TemplateError::Missing { names });
        }
        let is_unknown = |name: &&String| !self.blanks().any(|(_, one)| one.name == **name);
        let unknown: Vec<String> = fills.keys().filter(is_unknown).cloned().collect();
        if !unknown.is_empty() {
            return Err(TemplateError::Unknown { names: unknown });
        }
        self.fill(fills)
    }

    /// The same where what is not filled in is left out.
    fn fill(&self, fills: &BTreeMap<String, Fill>) -> Result<String, TemplateError> {
        let mut address = String::new();
        for part in &self.parts {
            let (style, variables) = match part {
                TemplatePart::Text(text) => {
                    address.push_str(text);
                    continue;
                }
                TemplatePart::Blank { style, variables } => (style, variables),
            };
            let mut pieces = Vec::new();
            for variable in variables {
                if let Some(fill) = fills.get(&variable.name) {
                    pieces.extend(style.filled(variable, fill)?);
                }
            }
            // RFC 6570: an expression without values leaves nothing, not even its first text.
            if !pieces.is_empty() {
                address.push_str(style.first);
                address.push_str(&pieces.join(style.between));
            }
        }
        Ok(address)
    }
}

impl Style {
    /// Expands one variable: to nothing without a value, to several texts for a list.
    fn filled(&self, variable: &Variable, fill: &Fill) -> Result<Vec<String>, TemplateError> {
        let name = &variable.name;
        let text = |text: &str| escaped(text, self.keeps_reserved);
        let items = match fill {
            Fill::Text(whole) => {
                let whole = match variable.form {
                    VariableForm::Prefix(most) => whole.chars().take(most).collect(),
                    VariableForm::Whole | VariableForm::Exploded => whole.clone(),
                };
                return Ok(vec![self.with_name(name, &text(&whole))]);
            }
            Fill::List(_) | Fill::Pairs(_) if matches!(variable.form, VariableForm::Prefix(_)) => {
                return Err(TemplateError::NoText { name: name.clone() });
            }
            Fill::List(items) => items.iter().map(|item| (None, text(item))).collect(),
            Fill::Pairs(pairs) => pairs
                .iter()
                .map(|(key, value)| (Some(text(key)), text(value)))
                .collect::<Vec<_>>(),
        };
        if items.is_empty() {
            return Ok(Vec::new());
        }
        if variable.form == VariableForm::Exploded {
            let each = items.into_iter().map(|(key, value)| match key {
                Some(key) if self.is_named => self.with_name(&key, &value),
                Some(key) => format!("{key}={value}"),
                None => self.with_name(name, &value),
            });
            return Ok(each.collect());
        }
        let flat = items
            .into_iter()
            .flat_map(|(key, value)| key.into_iter().chain([value]));
        let joined = flat.collect::<Vec<_>>().join(",");
        Ok(vec![self.with_name(name, &joined)])
    }

    fn with_name(&self, name: &str, value: &str) -> String {
        match (self.is_named, value) {
            (false, value) => value.to_owned(),
            (true, "") => format!("{name}{}", self.if_empty),
            (true, value) => format!("{name}={value}"),
        }
    }
}

fn malformed(what: impl Into<String>) -> TemplateError {
    TemplateError::Malformed { what: what.into() }
}

fn plain(text: &str) -> Result<TemplatePart, TemplateError> {
    if text.contains('}') {
        Err(malformed("a `}` without its `{`"))
    } else {
        Ok(TemplatePart::Text(escaped(text, true)))
    }
}

fn blank(inside: &str) -> Result<TemplatePart, TemplateError> {
    let is_operator = |first: &char| *first == '.' || !is_of_name(*first);
    // A dot is allowed within names, but not at their beginning.
    let operator = inside.chars().next().filter(is_operator);
    let style = STYLES.iter().find(|style| style.operator == operator);
    let style = style.ok_or_else(|| malformed(format!("`{{{inside}}}` has no known operator")))?;
    let names = match operator {
        Some(operator) => inside.strip_prefix(operator).unwrap_or(inside),
        None => inside,
    };
    let variables = names.split(',').map(variable);
    Ok(TemplatePart::Blank {
        style,
        variables: variables.collect::<Result<_, _>>()?,
    })
}

fn variable(text: &str) -> Result<Variable, TemplateError> {
    let (name, form) = match (text.strip_suffix('*'), text.split_once(':')) {
        (Some(name), _) => (name, VariableForm::Exploded),
        (None, Some((name, most))) => {
            // RFC 6570, 2.4.1: a prefix is shorter than 10,000.
            let most = most.parse().ok().filter(|most| (1..10_000).contains(most));
            let most = most.ok_or_else(|| malformed(format!("`{text}` has no length")))?;
            (name, VariableForm::Prefix(most))
        }
        (None, None) => (text, VariableForm::Whole),
    };
    if name.is_empty() || !name.chars().all(is_of_name) {
        return Err(malformed(format!("`{text}` is no name of a blank")));
    }
    Ok(Variable {
        name: name.to_owned(),
        form,
    })
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '%' | '.')
}

/// Escapes what cannot stand in an address; `keeps_reserved` where what has a meaning there stays, and
/// so does what is escaped already.
fn escaped(text: &str, keeps_reserved: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_kept = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => true,
            b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'('
            | b')' | b'*' | b'+' | b',' | b';' | b'=' => keeps_reserved,
            // An escape in a literal or a reserved expansion is kept as it is, not escaped twice.
            b'%' => {
                let digits = bytes.get(at + 1..at + 3);
                keeps_reserved
                    && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            _ => false,
        };
        if is_kept {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
#[path = "uri_template_tests.rs"]
mod tests;
