//! The request to a model in words, line by line and in full.

use switchboard::secret::Redactor;
use switchboard::talk::sampling::{Media, ModelRequest, Part, ToolUse};
use switchboard::text::sanitise_line;

/// Mark before every line of a server's text, so that none passes for one of ours.
const MARGIN: &str = "  | ";

/// Formats a request in full. Safe to show.
pub(super) fn request(request: &ModelRequest, secrets: &Redactor) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(system) = &request.prompt.system {
        lines.push("system:".to_owned());
        lines.extend(text(system, secrets));
    }
    for turn in &request.prompt.turns {
        parts(turn.role.word(), &turn.parts, secrets, &mut lines);
    }
    if !request.tools.is_empty() {
        // Tools of the server that the model may call.
        let how = match request.tool_use {
            ToolUse::Auto => "it may ask for the tools of the server:",
            ToolUse::Required => "it must ask for a tool of the server:",
            ToolUse::None => "it knows of the tools of the server, and may not ask for them:",
        };
        lines.push(how.to_owned());
        for tool in &request.tools {
            let what = tool.description.as_deref().unwrap_or_default();
            let schema = tool.input_schema.as_str();
            lines.extend(text(&format!("{} {schema} {what}", tool.name), secrets));
        }
    }
    if !request.stop_sequences.is_empty() {
        let words: Vec<String> = request
            .stop_sequences
            .iter()
            .map(|word| format!("{word:?}"))
            .collect();
        lines.push(format!("it stops at: {}", safe(&words.join(", "), secrets)));
    }
    lines
}

/// Formats the parts of a message under the name of their author.
pub(super) fn parts(who: &str, parts: &[Part], secrets: &Redactor, lines: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Text(said) => {
                lines.push(format!("{who}:"));
                lines.extend(text(said, secrets));
            }
            Part::Image(media) => lines.push(format!("{who}: an image, {}", size(media, secrets))),
            Part::Audio(media) => lines.push(format!("{who}: a sound, {}", size(media, secrets))),
            Part::Use { name, input, .. } => {
                lines.push(format!("{who} asks for a tool:"));
                lines.extend(text(&format!("{name} {}", input.as_str()), secrets));
            }
            // Results of tools may contain several parts, shown under the tool's outcome.
            Part::Result {
                parts: inner,
                is_error,
                ..
            } => {
                let what = if *is_error {
                    "a tool failed"
                } else {
                    "a tool answered"
                };
                if inner.is_empty() {
                    lines.push(format!("{what} nothing"));
                } else {
                    self::parts(what, inner, secrets, lines);
                }
            }
            _ => lines.push(format!("{who}: something that cannot be shown")),
        }
    }
}

/// Formats a text without known secrets, each line behind the margin.
fn text(text: &str, secrets: &Redactor) -> Vec<String> {
    let text = secrets.redact(text);
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        format!("{MARGIN}{}", sanitise_line(line))
    });
    lines.collect()
}

fn size(media: &Media, secrets: &Redactor) -> String {
    let bytes = media.data.len() / 4 * 3;
    format!("{}, about {bytes} bytes", safe(&media.mime_type, secrets))
}

fn safe(text: &str, secrets: &Redactor) -> String {
    sanitise_line(&secrets.redact(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::Raw;
    use switchboard::talk::sampling::{ModelTool, Prompt, Role, Turn};

    use super::*;

    #[test]
    fn everything_is_shown_and_no_line_passes_for_ours() {
        let mut secrets = Redactor::new();
        secrets.add("hunter2-canary");
        let said = "one\nSend it? [y]es\r\n\u{1b}[2Jhunter2-canary";
        let turn = |role, parts| Turn { role, parts };
        let media = Media {
            mime_type: "image/png".to_owned(),
            data: "aGVsbG8h".to_owned(),
        };
        let used = Part::Use {
            id: "1".to_owned(),
            name: "t".to_owned(),
            input: Raw::parse(r#"{"a":1}"#).unwrap(),
        };
        let result = |parts, is_error| Part::Result {
            id: "1".to_owned(),
            parts,
            is_error,
        };
        let asked = ModelRequest {
            model: "m".to_owned(),
            prompt: Prompt {
                system: Some("be".to_owned()),
                turns: vec![
                    turn(
                        Role::User,
                        vec![Part::Text(said.to_owned()), Part::Image(media)],
                    ),
                    turn(Role::Assistant, vec![used]),
                    turn(
                        Role::User,
                        vec![result(vec![Part::Text("x".to_owned())], true)],
                    ),
                    turn(Role::User, vec![result(Vec::new(), false)]),
                ],
            },
            max_tokens: 1,
            temperature: None,
            stop_sequences: vec!["END\n".to_owned()],
            tools: vec![ModelTool {
                name: "t".to_owned(),
                description: Some("does\nit".to_owned()),
                input_schema: Raw::empty_object(),
            }],
            tool_use: ToolUse::Auto,
        };
        assert_eq!(
            request(&asked, &secrets),
            [
                "system:",
                "  | be",
                "user:",
                "  | one",
                "  | Send it? [y]es",
                "  | \\u{1b}[2J***",
                "user: an image, image/png, about 6 bytes",
                "assistant asks for a tool:",
                "  | t {\"a\":1}",
                "a tool failed:",
                "  | x",
                "a tool answered nothing",
                "it may ask for the tools of the server:",
                "  | t {} does",
                "  | it",
                "it stops at: \"END\\n\"",
            ]
        );
    }
}
