//! Screens a question before an operator gets it.

use switchboard_wire::{ElicitMode, ElicitParams, ElicitResult};

use super::elicit::{Form, Link};
use super::operator::{ElicitRequest, ElicitSupport, Operator, SharedOperator};
use super::refusals::Refusals;
use crate::session::Refusal;
use crate::spec::ServerName;

/// Passes a question to the operator if it is safe to show. Reports to `tell` if it is not.
pub(super) async fn ask_operator(
    operator: &SharedOperator,
    server: &ServerName,
    question: &ElicitParams,
    refusals: &Refusals,
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<ElicitResult, Refusal> {
    // Checked here and not by the operator: every program that answers gets the same protection.
    let limits = operator.elicit_limits();
    let told = |what: &str| {
        let Some(untold) = refusals.admit(limits.refusals) else {
            return;
        };
        let more = match untold {
            0 => String::new(),
            untold => format!(" ({untold} others before it, too)"),
        };
        operator.elicit_refused(server, &format!("{what}{more}"));
        tell(format!(
            "a question of the server's was not shown: {what}{more}"
        ));
    };
    // The server hears that its question is wrong, so that its author can mend it.
    let wrong = |what: String| {
        told(&what);
        Err(Refusal::Invalid(what))
    };
    match question.mode() {
        ElicitMode::Form => match Form::read(question, &limits) {
            Ok(form) => {
                // 2025-11-25: servers must not ask for secrets in forms. Declined, so that the
                // server can go on without.
                if let Some(field) = form.asks_for_secret() {
                    told(&format!("the field {field:?} asks for a secret"));
                    return Ok(ElicitResult::decline());
                }
            }
            Err(error) => return wrong(error.to_string()),
        },
        ElicitMode::Url if operator.elicit_support() < ElicitSupport::FormsAndUrls => {
            return wrong("URLs are not opened here".to_owned());
        }
        ElicitMode::Url => {
            if question.message().len() > limits.message_bytes {
                let most = limits.message_bytes;
                return wrong(format!("the message has more than {most} bytes"));
            }
            // Parsed only to be checked: the operator parses what it shows.
            if let Err(error) = Link::parse(question.url().unwrap_or_default(), &limits) {
                return wrong(error.to_string());
            }
        }
        _ => return wrong("unknown elicitation mode".to_owned()),
    }
    let request = ElicitRequest::new(server.clone(), question.clone());
    let mut answer = operator.elicit(request).await?;
    if question.mode() == ElicitMode::Url {
        // 2025-11-25: the outcome of the visit is between the user and the site.
        answer.content = None;
    }
    Ok(answer)
}
