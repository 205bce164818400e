//! Sets of scopes.

/// Maximum length of a scope.
const SCOPE_BYTES: usize = 256;

/// Parses a space-separated list of scopes, without duplicates and invalid ones.
pub(crate) fn parse(text: &str) -> Vec<String> {
    collect(text.split(' '))
}

/// Collects valid scopes (RFC 6749) in order, without duplicates.
pub(crate) fn collect<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for scope in scopes {
        if is_scope(scope) && !found.iter().any(|known| known == scope) {
            found.push(scope.to_owned());
        }
    }
    found
}

/// Appends the scopes of the second list to those of the first.
pub(crate) fn union(first: &[String], second: &[String]) -> Vec<String> {
    collect(first.iter().chain(second).map(String::as_str))
}

/// Returns true if all scopes of the second list are in the first.
pub(crate) fn contains_all(first: &[String], second: &[String]) -> bool {
    second.iter().all(|scope| first.contains(scope))
}

fn is_scope(scope: &str) -> bool {
    let fits = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !scope.is_empty() && scope.len() <= SCOPE_BYTES && scope.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_kept_once_and_in_order() {
        assert_eq!(parse("b a  b c"), ["b", "a", "c"]);
        assert_eq!(parse("a\"b c\\d e"), ["e"]);
        let both = union(&parse("a b"), &parse("b c"));
        assert_eq!(both, ["a", "b", "c"]);
        assert!(contains_all(&both, &parse("c a")));
        assert!(!contains_all(&parse("a"), &both));
        assert!(parse(&"x".repeat(SCOPE_BYTES + 1)).is_empty());
        assert_eq!(parse(&"x".repeat(SCOPE_BYTES)).len(), 1);
    }
}
