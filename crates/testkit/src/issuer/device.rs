//! Device authorization (RFC 8628).

use std::time::Duration;

use serde_json::json;

use super::encoding::{Params, encode, html, random};
use super::fault::{Endpoint, FaultKind};
use super::reply::{IssuerReply, Refusal};
use super::state::{Client, Device, Grant, State};
use super::token::only;
use super::{Inner, IssuerRequest, JournalEntry};

/// The name of the grant.
pub(super) const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Lifetime of a device code.
const LIFE: Duration = Duration::from_secs(600);
/// Added to the interval by `slow_down`.
const SLOWER: Duration = Duration::from_secs(5);

impl Inner {
    pub(super) fn device(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let form = asked.form()?;
        let client = self.authenticate(state, asked, &form)?;
        entry.client = Some(client.id.clone());
        entry.scope = form.get("scope").map(str::to_owned);
        form.only(&[super::token::CLIENT, &["resource", "scope"]].concat())?;
        if !client.may(GRANT) {
            let about = "the client did not register for device codes";
            return Err(Refusal::new("unauthorized_client", about));
        }
        let grant = Grant {
            client: client.id.clone(),
            scopes: self.scopes_of(&form)?,
            resource: self.resource_of(asked, &form)?,
            family: state.new_family(),
            key: None,
            refreshes: self.options.refresh && client.may("refresh_token"),
        };
        let code = random("device-");
        let user_code = user_code();
        // The fault ends the code at once, although the answer promises the full lifetime.
        let life = if self.faults.strikes(FaultKind::DeviceExpired) {
            Duration::ZERO
        } else {
            LIFE
        };
        let page = format!("{}/device/page", self.issuer(asked.site));
        let answer = json!({
            "device_code": code,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={}", encode(&user_code)),
            "expires_in": LIFE.as_secs(),
            "interval": self.options.device_interval.as_secs(),
        });
        let device = Device {
            grant,
            user_code,
            expires: state.now() + life,
            polls: 0,
            last_poll: None,
            interval: self.options.device_interval,
            approved: None,
        };
        state.devices.insert(code, device);
        state.counts.prompts += 1;
        Ok(IssuerReply::json(200, answer).spoil(&self.faults, Endpoint::Device, asked.path))
    }

    /// Answers a poll.
    pub(super) fn poll_device(
        &self,
        state: &mut State,
        form: &Params,
        client: &Client,
    ) -> Result<Grant, Refusal> {
        only(form, &["device_code", "resource"])?;
        let refuse = |error, about: &str| Err(Refusal::new(error, about));
        state.counts.device_polls += 1;
        let now = state.now();
        let code = form.require("device_code")?;
        let Some(device) = state.devices.get_mut(code) else {
            return refuse("invalid_grant", "the device code is unknown");
        };
        if device.grant.client != client.id {
            return refuse("invalid_grant", "the device code is another client's");
        }
        if device.expires <= now {
            return refuse("expired_token", "the device code has expired");
        }
        // RFC 8628, 3.5: a poll before the interval is over makes the interval longer.
        let last = device.last_poll.replace(now);
        let is_early = last.is_some_and(|last| now < last + device.interval);
        if is_early || self.faults.strikes(FaultKind::DeviceSlowDown) {
            device.interval += SLOWER;
            return refuse("slow_down", "polls come too fast");
        }
        if self.faults.strikes(FaultKind::DevicePending) {
            return refuse("authorization_pending", "the person has not decided");
        }
        if self.faults.strikes(FaultKind::DeviceDenied) {
            device.approved = Some(false);
        }
        // Counted only if the poll was in time: fast polls do not bring the approval nearer.
        device.polls += 1;
        let waits = self
            .options
            .device_polls
            .is_none_or(|polls| device.polls <= polls);
        match device.approved {
            None if waits => refuse("authorization_pending", "the person has not decided"),
            Some(false) => refuse("access_denied", "the person refused"),
            None | Some(true) => {
                // The code is used up: a second poll after success finds nothing.
                let grant = device.grant.clone();
                state.devices.remove(code);
                state.counts.logins += 1;
                Ok(grant)
            }
        }
    }

    /// Shows the page at which the person types the code.
    pub(super) fn device_page(&self, asked: &IssuerRequest<'_>) -> Result<IssuerReply, Refusal> {
        let params = Params::parse(asked.query)?;
        let issuer = self.issuer(asked.site);
        let page = format!(
            "<h1>Connect a device</h1>\n<form method=\"post\" action=\"{}/device/decide\">\n\
             <input name=\"user_code\" value=\"{}\">\n\
             <button name=\"decision\" value=\"approve\">Allow</button>\n\
             <button name=\"decision\" value=\"refuse\">Refuse</button>\n</form>",
            html(&issuer),
            html(params.get("user_code").unwrap_or_default()),
        );
        Ok(IssuerReply::page(200, &page))
    }

    /// Answers the form of that page.
    pub(super) fn decide_device(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
    ) -> Result<IssuerReply, Refusal> {
        let form = asked.form()?;
        form.only(&["user_code", "decision"])?;
        let user_code = form.require("user_code")?;
        let approves = form.get("decision") == Some("approve");
        let mut devices = state.devices.values_mut();
        let device = devices.find(|device| device.user_code == user_code);
        let device = device.ok_or_else(|| Refusal::invalid_request("the code is unknown"))?;
        device.approved = Some(approves);
        Ok(IssuerReply::page(200, "Done. Return to your device."))
    }
}

/// Returns a code that a person can type.
fn user_code() -> String {
    // No vowels, so that no words come out.
    const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
    let random = random("");
    let letters: String = random
        .bytes()
        .filter_map(|byte| LETTERS.get(usize::from(byte) % LETTERS.len()))
        .take(8)
        .map(|byte| char::from(*byte))
        .collect();
    let (first, second) = letters.split_at(4);
    format!("{first}-{second}")
}
