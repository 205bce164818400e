//! Lists: whatever a server makes of its pages, reading them ends, and within the bounds.

mod script;
mod server;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard::session::{Cut, Listing, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::Memory;
use switchboard::{CallError, Deadline, Limits, Timeouts};
use tokio::runtime::Builder;
use tokio::time::{Instant, timeout};

use crate::bytes::Bytes;
use script::Script;

/// How long one page may take, by the clock that stands still while anybody works.
const PAGE: Duration = Duration::from_secs(30);
/// Longer than every list can take: whoever is still waiting then waits for ever.
const FOR_EVER: Duration = Duration::from_secs(30 * 24 * 3600);

/// Which list is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// Reads a list from a server whose every answer is decided by the input.
///
/// # Panics
/// Where reading it does not end, goes over a bound, or gives what it should have set aside.
pub fn pagination(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let list = bytes.one_of(&[List::Tools, List::Resources, List::Templates, List::Prompts]);
    let protocol = bytes.one_of(&[Protocol::Legacy, Protocol::Modern]);
    let mut limits = Limits::default();
    limits.pages = bytes.below(8);
    limits.items = bytes.below(16);
    limits.cursor_bytes = bytes.below(24);
    limits.json_depth = 2 + bytes.below(8);
    limits.message_bytes = bytes.one_of(&[700, 1500, 10_000]);
    let script = Script::new(list, bytes.rest());
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        timeout(FOR_EVER, read(list, protocol, limits, script))
            .await
            .expect("the list is read, one way or the other");
    });
}

async fn read(list: List, protocol: Protocol, limits: Limits, script: Script) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let memory = Memory::new("fuzz", move |input, output| {
        server::serve(input, output, script.clone(), Arc::clone(&counted))
    });
    let options = SessionOptions::default()
        .protocol(protocol)
        .limits(limits.clone())
        .timeouts(Timeouts::all(Deadline::within(PAGE)));
    let session = Session::connect(&memory, options).await.unwrap();
    let before = Instant::now();
    let pages = match list {
        List::Tools => judge(session.list_tools().await, &limits, |tool| tool.name()),
        List::Resources => judge(session.list_resources().await, &limits, |item| item.uri()),
        List::Templates => judge(session.list_resource_templates().await, &limits, |item| {
            item.uri_template()
        }),
        List::Prompts => judge(session.list_prompts().await, &limits, |item| item.name()),
    };
    let asked = asked.load(Ordering::SeqCst);
    let most = limits.pages.max(1);
    assert!(asked <= most, "{asked} requests for {most} pages");
    // A page that was read was asked for; the one that failed may have been the last.
    assert!(pages <= asked, "{pages} pages of {asked} requests");
    // The last page may run out of time; the others were answered within theirs.
    let longest = PAGE * u32::try_from(most).unwrap() + limits.oversize_wait;
    assert!(before.elapsed() <= longest, "{:?}", before.elapsed());
    session.close().await;
    assert!(session.close_reason().is_some());
}

/// Holds a list against the bounds and gives its pages; none for an error, which has its type.
fn judge<T>(
    listing: Result<Listing<T>, CallError>,
    limits: &Limits,
    key: impl Fn(&T) -> &str,
) -> usize {
    let listing = match listing {
        Ok(listing) => listing,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return 0;
        }
    };
    assert!(listing.items.len() <= limits.items);
    assert!(listing.set_aside.len() <= limits.items);
    assert!(listing.pages <= limits.pages.max(1));
    let keys: HashSet<&str> = listing.items.iter().map(&key).collect();
    assert_eq!(keys.len(), listing.items.len(), "a name came twice");
    assert!(!keys.contains(""), "a name is empty");
    match listing.cut {
        Some(Cut::Pages(limit)) => assert_eq!(limit, limits.pages),
        Some(Cut::Items(limit)) => {
            assert_eq!((limit, listing.items.len()), (limits.items, limits.items));
        }
        Some(Cut::Cursor(limit)) => assert_eq!(limit, limits.cursor_bytes),
        _ => {}
    }
    listing.pages
}
