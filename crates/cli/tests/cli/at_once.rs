//! Several runs of the binary at once: most of them wait most of their time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does something for each of several, so many at once.
pub(crate) fn for_each<T: Sync>(at_once: usize, all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(one);
                }
            });
        }
    });
}
