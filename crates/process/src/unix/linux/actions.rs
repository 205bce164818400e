//! The file actions of a child: steps that `posix_spawn` takes before its program runs.

use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;

type AddFolder =
    unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, *const c_char) -> c_int;
type AddCloseFrom = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, c_int) -> c_int;

/// Functions that older C libraries do not have.
///
/// Linking to them directly would prevent the binary from starting there.
pub(super) struct Younger {
    /// glibc 2.29.
    add_folder: AddFolder,
    /// glibc 2.34.
    add_close_from: AddCloseFrom,
}

impl Younger {
    #[allow(unsafe_code)]
    pub(super) fn find() -> Option<Self> {
        let add_folder = symbol(c"posix_spawn_file_actions_addchdir_np")?;
        let add_close_from = symbol(c"posix_spawn_file_actions_addclosefrom_np")?;
        // SAFETY: the C library documents these types for functions of these names, and a library that
        // the program was started with stays loaded.
        unsafe {
            Some(Self {
                add_folder: std::mem::transmute::<*mut libc::c_void, AddFolder>(add_folder),
                add_close_from: std::mem::transmute::<*mut libc::c_void, AddCloseFrom>(
                    add_close_from,
                ),
            })
        }
    }
}

/// Looks a function up by its name in the loaded libraries.
#[allow(unsafe_code)]
fn symbol(name: &CStr) -> Option<*mut libc::c_void> {
    // SAFETY: the name is a C string, and the lookup runs no code but the C library's.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// A list of steps that are taken in order. The C library copies its arguments.
pub(super) struct Actions<'a> {
    // Boxed, because nothing documents that it may be moved.
    list: Box<MaybeUninit<libc::posix_spawn_file_actions_t>>,
    younger: &'a Younger,
    files: PhantomData<BorrowedFd<'a>>,
}

#[allow(unsafe_code)]
impl<'a> Actions<'a> {
    pub(super) fn new(younger: &'a Younger) -> io::Result<Self> {
        let mut list = Box::new(MaybeUninit::uninit());
        // SAFETY: there is room for the list. If this fails, it is not destroyed.
        check(unsafe { libc::posix_spawn_file_actions_init(list.as_mut_ptr()) })?;
        Ok(Self {
            list,
            younger,
            files: PhantomData,
        })
    }

    /// Passes one of our files to the child under this number.
    pub(super) fn duplicate(&mut self, file: BorrowedFd<'a>, at: c_int) -> io::Result<()> {
        // SAFETY: the list was initialised; a file that is not open only fails in the child.
        check(unsafe {
            libc::posix_spawn_file_actions_adddup2(self.list.as_mut_ptr(), file.as_raw_fd(), at)
        })
    }

    /// Starts the program in a folder.
    pub(super) fn enter(&mut self, folder: &CStr) -> io::Result<()> {
        // SAFETY: the list was initialised, and the folder is a C string.
        check(unsafe { (self.younger.add_folder)(self.list.as_mut_ptr(), folder.as_ptr()) })
    }

    /// Closes every file from this number up, including those that other threads open meanwhile.
    pub(super) fn close_from(&mut self, lowest: c_int) -> io::Result<()> {
        // SAFETY: the list was initialised.
        check(unsafe { (self.younger.add_close_from)(self.list.as_mut_ptr(), lowest) })
    }

    pub(super) fn as_ptr(&self) -> *const libc::posix_spawn_file_actions_t {
        self.list.as_ptr()
    }
}

#[allow(unsafe_code)]
impl Drop for Actions<'_> {
    fn drop(&mut self) {
        // SAFETY: the list was initialised, and nothing uses it any more. The call always succeeds.
        unsafe { libc::posix_spawn_file_actions_destroy(self.list.as_mut_ptr()) };
    }
}
