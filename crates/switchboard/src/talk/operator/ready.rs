//! Operators for programs that run unattended.

use std::future::{self, Future};

use switchboard_wire::{ElicitMode, ElicitResult};

use super::{ElicitRequest, ElicitSupport, Operator};
use crate::session::Refusal;
use crate::talk::elicit::{Answers, ElicitLimits, Form};
use crate::talk::sampling::{SamplingApproval, SamplingRequest};
use crate::trust::{Only, Question, ServerApproval};

/// Refuses everything: the operator of a program that runs unattended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

impl Operator for Unattended {}

/// Declines every question of a server. Unlike [`Unattended`], it lets servers ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decline;

impl Operator for Decline {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    async fn elicit(&self, _request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        Ok(ElicitResult::decline())
    }
}

/// Approves every prompt for a model, for programs that decide by the settings of servers. The limits of
/// the [`Sampler`](crate::talk::sampling::Sampler) still hold.
#[derive(Debug, Clone, Copy, Default)]
#[doc(hidden)]
pub struct Unasked;

impl Operator for Unasked {
    async fn approve_sampling(&self, _request: SamplingRequest) -> SamplingApproval {
        SamplingApproval::Yes
    }
}

/// Approves the descriptions that have one of its fingerprints, for this run.
impl Operator for Only {
    fn approve_server(&self, request: Question) -> impl Future<Output = ServerApproval> + Send {
        future::ready(self.answer(&request))
    }
}

/// Fills in forms with the answers that it has, and declines everything else.
impl Operator for Answers {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        if request.params.mode() != ElicitMode::Form {
            return Ok(ElicitResult::decline());
        }
        let form = Form::read(&request.params, &ElicitLimits::default());
        let form = form.map_err(|error| Refusal::Invalid(error.to_string()))?;
        Ok(match self.fill(&form) {
            Ok(content) => ElicitResult::accept(Some(content)),
            Err(_) => ElicitResult::decline(),
        })
    }
}
