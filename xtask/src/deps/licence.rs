//! Licence expressions, as the `license` field of a manifest writes them.

/// Tells whether an SPDX expression can be satisfied with the licences in `allowed`.
///
/// `OR` needs one side, `AND` both and binds tighter, `WITH` makes one name of two, and the old `/`
/// means `OR`.
///
/// # Errors
///
/// Says where the expression stops making sense.
pub(super) fn satisfied(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let value = reader.or()?;
    match reader.words.first() {
        None => Ok(value),
        Some(word) => Err(format!("unexpected `{word}`")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl<'a> Reader<'a> {
    fn or(&mut self) -> Result<bool, String> {
        let mut value = self.and()?;
        while self.take("OR") {
            value |= self.and()?;
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut value = self.one()?;
        while self.take("AND") {
            value &= self.one()?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let value = self.or()?;
            return if self.take(")") {
                Ok(value)
            } else {
                Err("a parenthesis is not closed".to_owned())
            };
        }
        let mut name = self.name()?.to_owned();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.name()?);
        }
        Ok(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.words.split_first() {
            Some((word, rest)) if !["OR", "AND", "WITH", "(", ")"].contains(word) => {
                self.words = rest;
                Ok(word)
            }
            Some((word, _)) => Err(format!("a licence is missing before `{word}`")),
            None => Err("a licence is missing at the end".to_owned()),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mit_and_unicode(expression: &str) -> Result<bool, String> {
        satisfied(expression, &["MIT".to_owned(), "Unicode-3.0".to_owned()])
    }

    #[test]
    fn one_allowed_side_of_an_or_is_enough() {
        assert_eq!(with_mit_and_unicode("MIT"), Ok(true));
        assert_eq!(with_mit_and_unicode("MIT OR Apache-2.0"), Ok(true));
        assert_eq!(with_mit_and_unicode("Apache-2.0/MIT"), Ok(true));
        assert_eq!(
            with_mit_and_unicode("Apache-2.0 OR GPL-3.0-only"),
            Ok(false)
        );
    }

    #[test]
    fn both_sides_of_an_and_are_needed_and_it_binds_tighter() {
        assert_eq!(
            with_mit_and_unicode("(MIT OR Apache-2.0) AND Unicode-3.0"),
            Ok(true)
        );
        assert_eq!(with_mit_and_unicode("MIT AND Apache-2.0"), Ok(false));
        assert_eq!(
            with_mit_and_unicode("MIT OR Apache-2.0 AND GPL-3.0-only"),
            Ok(true)
        );
        assert_eq!(
            with_mit_and_unicode("(MIT OR Apache-2.0) AND GPL-3.0-only"),
            Ok(false)
        );
    }

    #[test]
    fn an_exception_makes_another_licence() {
        assert_eq!(with_mit_and_unicode("MIT WITH LLVM-exception"), Ok(false));
        let allowed = ["Apache-2.0 WITH LLVM-exception".to_owned()];
        assert_eq!(
            satisfied("Apache-2.0 WITH LLVM-exception OR GPL-2.0", &allowed),
            Ok(true)
        );
        assert_eq!(satisfied("Apache-2.0", &allowed), Ok(false));
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        for text in [
            "",
            "MIT OR",
            "OR MIT",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "MIT WITH",
        ] {
            assert!(with_mit_and_unicode(text).is_err(), "{text}");
        }
    }
}
