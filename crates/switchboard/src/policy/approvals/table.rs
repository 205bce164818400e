//! Approvals that can be looked up.

use std::collections::HashMap;

use super::approval::{Approval, Covers, Lasts};
use crate::policy::approve::Item;
use crate::policy::caller::CallerId;
use crate::spec::Identity;

/// Who has approvals, and for which server.
pub(super) type Key = (CallerId, Identity);

/// Approvals by who has them and for which server. There are few of them for one and the same.
#[derive(Debug, Default)]
pub(super) struct Table(HashMap<Key, Vec<Approval>>);

impl Table {
    pub(super) fn of(approvals: Vec<Approval>) -> Self {
        let mut table = Self::default();
        for approval in approvals {
            table.insert(approval);
        }
        table
    }

    /// How long what is wanted is approved for; `is` says whether an item is it.
    pub(super) fn find(&self, key: &Key, is: impl Fn(&Item) -> bool) -> Option<Lasts> {
        if self.0.is_empty() {
            return None;
        }
        let found = self
            .0
            .get(key)?
            .iter()
            .find(|approval| match &approval.covers {
                Covers::Server => true,
                Covers::Item(item) => is(item),
            });
        found.map(|approval| approval.lasts)
    }

    /// Adds an approval, in place of one for the same.
    pub(super) fn insert(&mut self, approval: Approval) {
        let key = (approval.caller.clone(), approval.identity);
        let all = self.0.entry(key).or_default();
        all.retain(|other| other.covers != approval.covers);
        all.push(approval);
    }

    /// Takes out those that are meant.
    pub(super) fn take(&mut self, is_meant: impl Fn(&Approval) -> bool) -> Vec<Approval> {
        let mut taken = Vec::new();
        self.0.retain(|_, all| {
            taken.extend(all.extract_if(.., |approval| is_meant(approval)));
            !all.is_empty()
        });
        taken
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Approval> {
        self.0.values().flatten()
    }
}
