//! Stories of servers that ask, played with every kind of client.

mod carriers;
mod frontmcp;
mod kinds;
mod links;
mod misuse;
mod rounds;
mod settings;
mod world;
