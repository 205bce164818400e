//! A form at the terminal: asks one field after the other, and shows all values before they are sent.

use switchboard::protocol::{ElicitResult, Raw};
use switchboard::spec::ServerName;
use switchboard::talk::{Field, Form};

use super::{quote_lines, safe_line, words};
use crate::ask::Dialogue;

/// Values by the names of their fields.
type Values = Vec<(String, Raw)>;

/// The person's choice after the review.
enum Verdict {
    Send,
    Edit,
    Decline,
}

/// Asks the person to fill in a form. Leaving a question, as with Ctrl-C, cancels.
pub(super) async fn ask(
    server: &ServerName,
    form: &Form,
    known: Values,
    dialogue: &mut Dialogue,
) -> ElicitResult {
    let filled = fill(server, form, known, dialogue).await;
    filled.unwrap_or_else(ElicitResult::cancel)
}

async fn fill(
    server: &ServerName,
    form: &Form,
    mut values: Values,
    dialogue: &mut Dialogue,
) -> Option<ElicitResult> {
    dialogue.say(&format!("\nThe server {:?} asks:\n", server.as_str()));
    dialogue.say(&quote_lines(form.message()));
    if !begins(dialogue).await? {
        return Some(ElicitResult::decline());
    }
    loop {
        for field in form.fields() {
            // On a second pass the previous values are the defaults.
            let held = values.iter().position(|(name, _)| *name == field.name);
            let held = held.map(|at| values.remove(at).1);
            if let Some(value) = read(field, held, dialogue).await? {
                values.push((field.name.clone(), value));
            }
        }
        match review(server, form, &values, dialogue).await? {
            Verdict::Decline => return Some(ElicitResult::decline()),
            Verdict::Edit => continue,
            Verdict::Send => {}
        }
        match form.answer(&values) {
            Ok(content) => return Some(ElicitResult::accept(Some(content))),
            // Unlikely: each field has accepted its value already.
            Err(problems) => problems.iter().for_each(|problem| {
                dialogue.say(&format!("  {}\n", safe_line(&problem.to_string())));
            }),
        }
    }
}

/// Asks if the person wants to answer at all. Returns `None` if they cancel.
async fn begins(dialogue: &mut Dialogue) -> Option<bool> {
    loop {
        let answer = dialogue
            .ask("Answer it? [Y]es, [d]ecline, [c]ancel: ")
            .await?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "" | "y" | "yes" => return Some(true),
            "d" | "decline" | "n" | "no" => return Some(false),
            "c" | "cancel" => return None,
            _ => {}
        }
    }
}

/// Reads one field; an empty line keeps the current value. Returns `None` if the person leaves.
async fn read(field: &Field, held: Option<Raw>, dialogue: &mut Dialogue) -> Option<Option<Raw>> {
    dialogue.say(&words::lines(field));
    // An optional field with a value can be cleared; an empty line would keep it.
    let can_drop = !field.is_required && held.is_some();
    if can_drop {
        dialogue.say("    (enter - to leave it out)\n");
    }
    let before = held.as_ref().map(|held| words::value(field, held));
    let before = before.map(|held| format!(" [{held}]")).unwrap_or_default();
    let question = format!("  {}{before}: ", safe_line(&field.name));
    loop {
        let line = dialogue.ask(&question).await?;
        let line = line.trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() {
            match &held {
                Some(held) => return Some(Some(held.clone())),
                None if !field.is_required => return Some(None),
                None => {
                    dialogue.say("    a value is required\n");
                    continue;
                }
            }
        }
        if can_drop && line.trim() == "-" {
            return Some(None);
        }
        match field.read(line) {
            Ok(value) => return Some(Some(value)),
            Err(problem) => dialogue.say(&format!("    {}\n", safe_line(&problem.what))),
        }
    }
}

/// Shows the values, and asks if they should be sent.
async fn review(
    server: &ServerName,
    form: &Form,
    values: &Values,
    dialogue: &mut Dialogue,
) -> Option<Verdict> {
    dialogue.say(&format!("\nThis will be sent to {:?}:\n", server.as_str()));
    for field in form.fields() {
        let value = values.iter().find(|(name, _)| *name == field.name);
        let value = match value {
            Some((_, value)) => words::value(field, value),
            None => "(left out)".to_owned(),
        };
        dialogue.say(&format!("  {}: {value}\n", safe_line(field.label())));
    }
    // A form without fields asks for plain consent.
    if form.fields().is_empty() {
        dialogue.say("  (your consent)\n");
    }
    loop {
        let answer = dialogue
            .ask("Send it? [y]es, [e]dit, [d]ecline, [c]ancel: ")
            .await?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Some(Verdict::Send),
            "e" | "edit" => return Some(Verdict::Edit),
            "d" | "decline" | "n" | "no" => return Some(Verdict::Decline),
            "c" | "cancel" => return None,
            _ => {}
        }
    }
}
