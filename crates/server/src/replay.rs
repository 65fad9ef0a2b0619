//! A guide: which tools may run again, and what to do about those that may not.
//!
//! Between two requests of a client of 2026-07-28 a call waits for its person in the memory of one
//! process. Where that process has ended, or another one gets the next request, a server with
//! [`Resume::ParkThenReplay`](crate::Resume::ParkThenReplay) runs the tool again from its first line. Each
//! question that was answered returns at once, with its answer. The code between the questions runs
//! once more.
//!
//! A tool may run again if it asks the same questions in the same order each time, given the same
//! answers, and if nothing between them does harm when it happens twice. Three things break that.
//!
//! # A lookup
//!
//! The tool asks about something that it finds, and that is different the next time:
//!
//! ```
//! # async fn old_files() -> Vec<String> { vec!["a".into()] }
//! # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
//! let files = old_files().await; // One more an hour later.
//! let sure = ask.confirm(format!("Delete {} files?", files.len())).await?.agreed();
//! # Ok(String::new()) }
//! ```
//!
//! A yes to three files is no yes to four. A question whose words have changed is asked again, and so is
//! all that came after it, at most as often as [`Asks::times`](crate::Asks::times) says. If the person
//! should decide about what was there when they were asked, keep what was found:
//!
//! ```
//! # async fn old_files() -> Vec<String> { vec!["a".into()] }
//! # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
//! let files: Vec<String> = ask.once("files", old_files).await?;
//! let sure = ask.confirm(format!("Delete {} files?", files.len())).await?.agreed();
//! # Ok(String::new()) }
//! ```
//!
//! The time and random numbers are lookups, too. The id of a [link](crate::Ask::link) is not: it is the
//! same each time.
//!
//! # A dialogue
//!
//! What is asked next depends on more than the answers: on a model, on a queue, on which of two tasks was
//! faster. The tool then asks another question at the same place, with other fields. No answer is used for
//! it: that is [`AskError::Diverged`](crate::AskError::Diverged), which shows both questions. Keep each
//! decision with [`Ask::once`](crate::Ask::once), ask side by side with
//! [`Ask::together`](crate::Ask::together) instead of in tasks, or let the server
//! [park only](crate::Resume::ParkOnly).
//!
//! # A change before the question
//!
//! ```
//! # async fn reserve() {}
//! # async fn charge() -> String { "receipt 17".into() }
//! # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
//! reserve().await; // Again for each round.
//! let name = ask.text("In whose name?").await?.accepted()?;
//! let receipt: String = ask.once("charge", charge).await?; // Once.
//! let mail = ask.confirm("Mail the receipt?").await?.agreed();
//! # Ok(receipt) }
//! ```
//!
//! Do it after the last question, or with [`Ask::once`](crate::Ask::once). What only overwrites itself may
//! stay as it is. Once there is an effect, a question before it must not change its words any more: what
//! was paid for one question is not paid for another.
//!
//! # What holds when
//!
//! | | [`ParkOnly`] | replayed, by the state alone | replayed, with a [store] |
//! |---|---|---|---|
//! | the process ends, or another one is asked | the client is told that its call is over | the tool runs again | the tool runs again |
//! | one retry comes twice to one process | it joins the call | it joins the call while that runs | it joins the call |
//! | one retry comes to two processes | as if the process had ended | the tool runs in both | one goes on, and both hear the result |
//! | the process ends in the middle of an effect | | the effect happens again | [`OnceError::Unsure`] |
//! | answers and effects in a call | any size | 3,072 characters, sealed | any size |
//! | a state that was used already | joins, or is refused | runs the tool again until it expires | tells what came of it, or is refused |
//!
//! Without a store, a tool that was parked in one process knows nothing of the same call in another: it
//! waits until its question's time is over, and hears that nobody answered.
//!
//! With a store, two things don't hold yet. Between an effect and the call's next question, the store knows the
//! effect by its name only, and not for which words of a question it happened: if the process ends just then, a
//! tool that now words that question differently asks again, and gets what the effect gave before. And a retry
//! that a process took and didn't finish makes the tool run again, even after its state has expired.
//!
//! A client that asks by [`Live`] requests needs its connection, and a [model] its process: their calls
//! are never replayed.
//!
//! # Testing it
//!
//! The [testing kit](crate::testing) runs each tool again from each of its rounds where the server says
//! that tools may run again. A tool that diverges fails the test, and
//! [`Deeds`](crate::testing::Deeds) show what it does twice.
//!
//! [`ParkOnly`]: crate::Resume::ParkOnly
//! [`OnceError::Unsure`]: crate::OnceError::Unsure
//! [`Live`]: crate::Carrier::Live
//! [store]: crate::Asks::store
//! [model]: crate::Carrier::Model
