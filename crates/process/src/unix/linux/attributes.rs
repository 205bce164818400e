//! The attributes of a child: its session and its signals.

use std::ffi::c_short;
use std::io;
use std::mem::MaybeUninit;

use super::check;

/// The attributes of a process to be started.
pub(super) struct Attributes {
    // Boxed, because nothing documents that they may be moved.
    attributes: Box<MaybeUninit<libc::posix_spawnattr_t>>,
}

#[allow(unsafe_code)]
impl Attributes {
    /// Creates attributes for a session leader without a terminal whose signals are unblocked and at their
    /// defaults, whatever the host has set for itself.
    pub(super) fn of_a_fresh_process() -> io::Result<Self> {
        let mut attributes = Box::new(MaybeUninit::uninit());
        // SAFETY: there is room for the attributes. If this fails, they are not destroyed.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        let mut this = Self { attributes };
        this.set()?;
        Ok(this)
    }

    fn set(&mut self) -> io::Result<()> {
        let flags = c_short::try_from(
            i32::from(libc::POSIX_SPAWN_SETSID)
                | libc::POSIX_SPAWN_SETSIGMASK
                | libc::POSIX_SPAWN_SETSIGDEF,
        )
        .map_err(io::Error::other)?;
        let (mut none, mut all) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let attributes = self.attributes.as_mut_ptr();
        // SAFETY: the attributes were initialised; the sets are initialised before they are read.
        unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(attributes, none.as_ptr()))?;
            check(libc::posix_spawnattr_setsigdefault(
                attributes,
                all.as_ptr(),
            ))?;
            check(libc::posix_spawnattr_setflags(attributes, flags))
        }
    }

    pub(super) fn as_ptr(&self) -> *const libc::posix_spawnattr_t {
        self.attributes.as_ptr()
    }
}

#[allow(unsafe_code)]
impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the attributes were initialised, and nothing uses them any more.
        unsafe { libc::posix_spawnattr_destroy(self.attributes.as_mut_ptr()) };
    }
}
