//! Decisions of the person that other processes have stored: approvals of servers and of definitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Reconciled;
use crate::ErrorKind;
use crate::host::Host;
use crate::host::member::{Member, Source};
use crate::trust::Fingerprint;

impl Host {
    /// Ends the servers whose approval is no longer in the store. The next use of one asks again.
    pub(super) async fn end_revoked(&self, done: &mut Reconciled) {
        let registry = &self.0.registry;
        let approval = |member: &Member| member.ready().and_then(|ready| ready.approval);
        let approved = registry.members().into_iter();
        let approved = approved.filter(|member| approval(member).is_some());
        let approved: Vec<Arc<Member>> = approved.collect();
        // Those that have left too: their calls in flight have time, but not without an approval.
        let mut leaving = registry.leaving();
        leaving.retain(|member| approval(member).is_some());
        // The store is a file: not read where no server depends on it.
        if approved.is_empty() && leaving.is_empty() {
            return;
        }
        let options = registry.options();
        let listed = tokio::task::spawn_blocking(move || options.store.list());
        // Without a store that can be read nothing is approved.
        let listed = listed.await.ok().and_then(Result::ok).unwrap_or_default();
        let stored: BTreeSet<Fingerprint> = listed.iter().map(|it| it.fingerprint).collect();
        let is_stored = |member: &Member| approval(member).is_some_and(|it| stored.contains(&it));
        for member in leaving {
            if !is_stored(&member) {
                member.gone.cancel();
            }
        }
        for member in approved {
            if let (false, Source::Entry(entry)) = (is_stored(&member), &member.source) {
                // The same entry as a server that nothing has admitted, so that its next use asks.
                let again = Source::Entry(entry.clone());
                let again = (member.name.clone(), member.origin(), again);
                if self.succeed(&member, Some(again)) {
                    // At once, and not after its calls: they run what is not approved.
                    member.gone.cancel();
                    done.revoked.push(member.name.clone());
                }
            }
        }
    }

    /// Takes approvals of servers that were refused, and definitions that were approved or revoked.
    pub(super) async fn take_decisions(&self, done: &mut Reconciled) {
        let host = Arc::clone(&self.0);
        let taken = tokio::task::spawn_blocking(move || {
            let mut approved = Vec::new();
            for member in host.registry.members() {
                host.access.read_again(&member);
                let refused = member.facts().refused.clone();
                let was_refused = refused.is_some_and(|error| error.kind() == ErrorKind::Untrusted);
                if was_refused && matches!(host.registry.question(&member), Ok(None)) {
                    member.facts().refused = None;
                    // What is listed of it may be listed now.
                    if host.keeper.part(&member).is_none() {
                        host.publish_kept(&member);
                    }
                    member.mark_changed();
                    approved.push(member.name.clone());
                }
            }
            approved
        });
        done.approved = taken.await.unwrap_or_default();
    }
}
