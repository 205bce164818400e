//! The memory of a keeper. Every running server has a keeper, so it should be small.
//!
//! A keeper is loaded like its host: with the pages of a large program, and with the memory that the
//! host's allocator takes before `main`, which can be megabytes. It needs neither while it waits, so it
//! returns both to the system. After that the allocator must not be used any more, not even to free;
//! memory that is needed later comes directly from the system.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use super::tree::open;

/// A smaller heap is not worth returning.
const HEAP_BYTES: usize = 1 << 20;

/// A growable list that gets its memory directly from the system.
pub(super) struct Table<T> {
    start: ptr::NonNull<T>,
    room: usize,
    count: usize,
}

#[allow(unsafe_code)]
impl<T: Copy> Table<T> {
    /// Creates a list with room for this many; the system provides pages only as it is filled.
    pub(super) fn with_room(room: usize) -> Option<Self> {
        // SAFETY: the memory is new and has no other owner; it begins on a page, which suits any type.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                room.checked_mul(size_of::<T>())?,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self {
            start: ptr::NonNull::new(start.cast())?,
            room,
            count: 0,
        })
    }

    /// Appends a value; returns false if the system has no memory for it.
    pub(super) fn push(&mut self, value: T) -> bool {
        if self.count == self.room && self.grow().is_none() {
            return false;
        }
        // SAFETY: there is room for it.
        unsafe { self.start.add(self.count).write(value) };
        self.count += 1;
        true
    }

    /// Doubles the capacity.
    fn grow(&mut self) -> Option<()> {
        let room = self.room.checked_mul(2)?;
        let (before, after) = (
            self.room.checked_mul(size_of::<T>())?,
            room.checked_mul(size_of::<T>())?,
        );
        let start = self.start.as_ptr().cast();
        // SAFETY: the memory belongs to the list and is not borrowed; its content moves along. If the
        // system refuses, it stays in place.
        let start = unsafe { libc::mremap(start, before, after, libc::MREMAP_MAYMOVE) };
        if start == libc::MAP_FAILED {
            return None;
        }
        self.start = ptr::NonNull::new(start.cast())?;
        self.room = room;
        Some(())
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: `count` values have been written, and the borrow is that of the list.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

#[allow(unsafe_code)]
impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        let bytes = self.room.saturating_mul(size_of::<T>());
        // SAFETY: the memory belongs to the list and is not borrowed any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), bytes) };
    }
}

/// A region of memory, as in `/proc/self/maps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    start: usize,
    end: usize,
    kind: RegionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionKind {
    /// Unmodified pages of a file, which can be read again.
    AsInFile,
    /// Writable memory without a file.
    Anonymous,
    Other,
}

/// Returns memory to the system that a keeper does not need while it waits.
///
/// # Safety
/// From now on, neither the allocator nor anything allocated before may be used in this process.
#[allow(unsafe_code)]
pub(super) unsafe fn give_back() {
    let heap = {
        let something = Box::new(0_u8);
        // Keeps the compiler from optimising the allocation away.
        std::hint::black_box(ptr::from_ref(&*something)).addr()
    };
    // SAFETY: only the address is used.
    let of_thread = unsafe { libc::__errno_location() }.addr();
    let mut before = None;
    each_region(|region: Region| {
        let is_heap = region.kind == RegionKind::Anonymous
            && region.holds(heap)
            && region.end - region.start >= HEAP_BYTES
            // Memory after a file holds the rest of a library's variables, and the variables of the
            // thread are as anonymous as a heap.
            && before != Some(region.start)
            && !region.holds(of_thread);
        if is_heap || region.kind == RegionKind::AsInFile {
            let start = ptr::without_provenance_mut(region.start);
            // SAFETY: pages of a file are read again when needed; by the promise of the caller, the
            // heap is not used any more. If the system refuses, everything stays as it was.
            unsafe { libc::madvise(start, region.end - region.start, libc::MADV_DONTNEED) };
        }
        before = (region.kind != RegionKind::Anonymous).then_some(region.end);
    });
}

impl Region {
    fn holds(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Parses `START-END RIGHTS OFFSET DEVICE INODE NAME`.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line
            .split(|byte| *byte == b' ')
            .filter(|field| !field.is_empty());
        let (start, end) = std::str::from_utf8(fields.next()?).ok()?.split_once('-')?;
        let (rights, offset) = (fields.next()?, fields.next()?);
        let name = fields.nth(2);
        let is_file = name.is_some_and(|name| name.starts_with(b"/"));
        let kind = match rights {
            b"r-xp" if is_file => RegionKind::AsInFile,
            // The first segment of a program contains no pointers that were adjusted at load time;
            // other read-only segments may.
            b"r--p" if is_file && offset.iter().all(|digit| *digit == b'0') => RegionKind::AsInFile,
            b"rw-p" if name.is_none() => RegionKind::Anonymous,
            _ => RegionKind::Other,
        };
        Some(Self {
            start: usize::from_str_radix(start, 16).ok()?,
            end: usize::from_str_radix(end, 16).ok()?,
            kind,
        })
    }
}

/// Calls `act` for each region of this process.
fn each_region(mut act: impl FnMut(Region)) {
    let Some(maps) = open(b"/proc/self/maps\0", 0) else {
        return;
    };
    // Longer than any line, as a path has at most 4096 bytes.
    let mut buffer = [0_u8; 8192];
    let mut held = 0;
    loop {
        let read = read(&maps, buffer.get_mut(held..).unwrap_or_default());
        if read == 0 {
            return;
        }
        let filled = buffer.get(..held + read).unwrap_or_default();
        let mut rest = filled;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            if let Some(region) = Region::parse(line) {
                act(region);
            }
        }
        let (from, to) = (filled.len() - rest.len(), filled.len());
        held = to - from;
        buffer.copy_within(from..to, 0);
    }
}

/// Reads from a file; an error counts as its end.
#[allow(unsafe_code)]
pub(super) fn read(file: &OwnedFd, buffer: &mut [u8]) -> usize {
    // SAFETY: the system writes no more than the length of the buffer.
    let read = unsafe { libc::read(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(read).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_had_again_is_as_in_a_file() {
        let kind = |line: &str| Region::parse(line.as_bytes()).unwrap().kind;
        assert_eq!(
            kind("10-20 r-xp 00001000 fe:00 7   /bin/x"),
            RegionKind::AsInFile
        );
        assert_eq!(
            kind("10-20 r--p 00000000 fe:00 7   /bin/x"),
            RegionKind::AsInFile
        );
        assert_eq!(
            kind("10-20 r--p 00003000 fe:00 7   /bin/x"),
            RegionKind::Other
        );
        assert_eq!(
            kind("10-20 rw-p 00003000 fe:00 7   /bin/x"),
            RegionKind::Other
        );
        assert_eq!(
            kind("10-20 r-xp 00000000 00:00 0   [vdso]"),
            RegionKind::Other
        );
        assert_eq!(
            kind("10-20 rw-p 00000000 00:00 0   [heap]"),
            RegionKind::Other
        );
        assert_eq!(kind("10-20 rw-p 00000000 00:00 0 "), RegionKind::Anonymous);
        assert_eq!(Region::parse(b"10-20 rw-p"), None);
    }

    #[test]
    fn the_stack_of_this_thread_is_found_once() {
        let here = 0_u8;
        let here = ptr::from_ref(&here).addr();
        let mut found = 0;
        each_region(|region| found += u32::from(region.holds(here)));
        assert_eq!(found, 1);
    }

    #[test]
    fn a_table_grows_over_any_room_that_it_began_with() {
        const MANY: i32 = 200_000;
        let mut table = Table::with_room(3).unwrap();
        assert!((0..MANY).all(|number| table.push(number)));
        assert!(table.as_mut_slice().iter().copied().eq(0..MANY));
    }
}
