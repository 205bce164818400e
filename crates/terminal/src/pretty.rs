//! JSON with line breaks that keeps the spelling of values.

/// Breaks JSON into indented lines without touching a value: numbers and escapes stay as written.
pub fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            // Existing layout is dropped outside of strings.
            c if c.is_ascii_whitespace() => {}
            '{' | '[' => {
                out.push(c);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_as_they_were_written() {
        assert_eq!(
            pretty(r#"{ "a" : [1.10, "x,{\"\\"], "b":{ }, "c":[ ] ,"d":1e400}"#),
            "{\n  \"a\": [\n    1.10,\n    \"x,{\\\"\\\\\"\n  ],\n  \"b\": {},\n  \"c\": [],\n  \"d\": 1e400\n}"
        );
        assert_eq!(pretty("\"a b\""), "\"a b\"");
    }
}
