//! What had to be done after servers whose keepers did not end all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::Host;
use crate::spec::ServerName;
use crate::transport::Cleanup;

/// The most processes of one server that are named; more are not worth reading.
const MOST_LEFT: usize = 1024;

/// What had to be done, in sum for each server.
#[derive(Default)]
pub(super) struct Cleanups(Mutex<BTreeMap<ServerName, Cleanup>>);

impl Cleanups {
    pub(super) fn add(&self, server: &ServerName, cleanup: &Cleanup) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(server) {
            None => {
                all.insert(server.clone(), cleanup.clone());
            }
            Some(sum) => {
                sum.keeper_lost = cleanup.keeper_lost.or(sum.keeper_lost);
                sum.ended = sum.ended.saturating_add(cleanup.ended);
                sum.left.extend(&cleanup.left);
                sum.left.truncate(MOST_LEFT);
            }
        }
    }
}

impl Host {
    /// What had to be done after servers that have ended, where a keeper was lost or could not end
    /// all processes of its server. Each is told once: what was returned is forgotten.
    ///
    /// After [`Host::shutdown`] it is complete.
    pub fn take_cleanups(&self) -> Vec<(ServerName, Cleanup)> {
        let cleanups = &self.0.cleanups.0;
        let mut all = cleanups.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all).into_iter().collect()
    }
}
