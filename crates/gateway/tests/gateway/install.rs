//! `midcall install` and `uninstall` on a home folder with the configuration of every client.

mod home;
mod killed;
mod shapes;
mod troubles;
