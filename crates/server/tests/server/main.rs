//! Stories of servers that ask, played with every kind of client.

mod again;
mod carriers;
#[path = "../../examples"]
mod examples {
    #![allow(dead_code, missing_docs, reason = "each is a program of its own")]
    pub mod book_table;
    pub mod delete_files;
    pub mod sign_in;
    pub mod theme_colour;
}
mod frontmcp;
mod http;
mod kinds;
mod kit;
mod late;
mod links;
mod listed;
mod misuse;
mod model;
mod once;
mod processes;
mod races;
mod reasons;
mod replay;
mod rounds;
mod settings;
mod strain;
mod time;
mod world;
