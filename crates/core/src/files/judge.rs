//! Judges files and folders by their owner and mode.

const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// The users, besides us, who may write a file or replace the files in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// No others: it belongs to this user or to root.
    Fine,
    /// Members of its group.
    GroupWritable,
    /// Any user.
    WorldWritable,
    /// Its owner, who is neither this user nor root.
    Foreign,
}

/// The identity of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Me {
    pub(super) user: u32,
    /// In a user namespace: the id that stands for all users outside of it, the owner of the system's
    /// own folders too.
    pub(super) outside: Option<u32>,
}

/// Judges a file by its owner and mode.
pub(super) fn file(owner: u32, mode: u32, me: u32) -> Access {
    if owner != me && owner != 0 {
        Access::Foreign
    } else {
        writable(mode)
    }
}

/// Judges a folder. In a sticky one, other users can add files but not replace any, so the files in it
/// are judged by their own owner.
pub(super) fn folder(owner: u32, mode: u32, me: Me) -> Access {
    if owner != me.user && owner != 0 && Some(owner) != me.outside {
        Access::Foreign
    } else if mode & STICKY != 0 {
        Access::Fine
    } else {
        writable(mode)
    }
}

fn writable(mode: u32) -> Access {
    if mode & OTHERS_WRITE != 0 {
        Access::WorldWritable
    } else if mode & GROUP_WRITES != 0 {
        Access::GroupWritable
    } else {
        Access::Fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me(user: u32) -> Me {
        Me {
            user,
            outside: None,
        }
    }

    #[test]
    fn a_file_is_judged_by_its_owner_and_its_mode() {
        assert_eq!(file(1000, 0o100_644, 1000), Access::Fine);
        assert_eq!(file(0, 0o100_644, 1000), Access::Fine);
        assert_eq!(file(1001, 0o100_600, 1000), Access::Foreign);
        assert_eq!(file(1001, 0o100_600, 0), Access::Foreign);
        assert_eq!(file(1000, 0o100_664, 1000), Access::GroupWritable);
        assert_eq!(file(1000, 0o100_666, 1000), Access::WorldWritable);
        assert_eq!(file(1000, 0o100_602, 1000), Access::WorldWritable);
        // The sticky bit of a file says nothing.
        assert_eq!(file(1000, 0o101_666, 1000), Access::WorldWritable);
    }

    #[test]
    fn a_folder_is_judged_by_its_owner_its_mode_and_the_sticky_bit() {
        for (owner, mode, user, wanted) in [
            (0, 0o040_755, 1000, Access::Fine),
            (1000, 0o040_700, 1000, Access::Fine),
            (0, 0o041_777, 1000, Access::Fine),
            (0, 0o041_775, 1000, Access::Fine),
            (0, 0o040_777, 1000, Access::WorldWritable),
            (1000, 0o040_702, 1000, Access::WorldWritable),
            (1000, 0o040_775, 1000, Access::GroupWritable),
            (0, 0o042_775, 1000, Access::GroupWritable),
            (1001, 0o040_755, 1000, Access::Foreign),
            // The owner of a sticky folder can replace everything in it.
            (1001, 0o041_777, 1000, Access::Foreign),
            (1000, 0o040_755, 0, Access::Foreign),
        ] {
            assert_eq!(folder(owner, mode, me(user)), wanted, "{owner} {mode:o}");
        }
    }

    #[test]
    fn in_a_user_namespace_the_systems_folders_are_not_foreign() {
        let inside = Me {
            user: 1000,
            outside: Some(65534),
        };
        assert_eq!(folder(65534, 0o040_755, inside), Access::Fine);
        assert_eq!(folder(65534, 0o040_777, inside), Access::WorldWritable);
        assert_eq!(file(65534, 0o100_644, 1000), Access::Foreign);
        assert_eq!(folder(65534, 0o040_755, me(1000)), Access::Foreign);
    }
}
