//! Addresses that a template may have made.

/// A template of addresses, read for matching: the texts between its variables.
#[derive(Debug)]
pub(super) struct TemplateMatcher {
    texts: Vec<String>,
}

impl TemplateMatcher {
    /// Reads a template. What cannot be read as one matches itself alone.
    pub(super) fn new(template: &str) -> Self {
        let (mut texts, mut rest) = (Vec::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            let Some((_, after)) = after.split_once('}') else {
                break;
            };
            texts.push(before.to_owned());
            rest = after;
        }
        texts.push(rest.to_owned());
        Self { texts }
    }

    /// Returns how well an address fits: the length of the text before the first variable, then that of
    /// all texts. `None` if the template cannot have made it.
    pub(super) fn rank(&self, address: &str) -> Option<(usize, usize)> {
        let (first, others) = self.texts.split_first()?;
        let length = self.texts.iter().map(String::len).sum();
        let rest = address.strip_prefix(first.as_str())?;
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty().then_some((first.len(), length));
        };
        // The texts in their order; a variable between them may be anything, even empty.
        let rest = middle.iter().try_fold(rest, |rest, text| {
            let (_, after) = rest.split_once(text.as_str())?;
            Some(after)
        });
        rest.filter(|rest| rest.ends_with(last.as_str()))
            .map(|_| (first.len(), length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_matches_what_it_can_have_made() {
        for (template, address, rank) in [
            ("f://{x}", "f://a/b", Some((4, 4))),
            ("f://{x}", "g://a", None),
            ("f://{x}/log", "f://a/log", Some((4, 8))),
            ("f://{x}/log", "f://a/logs", None),
            ("f://{x}/a/{y}.txt", "f://1/a/2.txt", Some((4, 11))),
            ("f://{x}/a/{y}.txt", "f://1/b/2.txt", None),
            ("f://{x}{?q}", "f://1?q=2", Some((4, 4))),
            ("f://a", "f://a", Some((5, 5))),
            ("f://a", "f://ab", None),
            ("{x}", "", Some((0, 0))),
            ("f://{x", "f://{x", Some((6, 6))),
        ] {
            assert_eq!(
                TemplateMatcher::new(template).rank(address),
                rank,
                "{template}"
            );
        }
    }
}
