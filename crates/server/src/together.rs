//! Several questions at once.

use futures_util::future::try_join_all;

use crate::answer::Answer;
use crate::error::AskError;
use crate::kind::Kind;
use crate::question::Question;

/// Questions that can be put together: a tuple of up to six, or a list of one kind.
/// [`Ask::together`](crate::Ask::together) takes them.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let names = ["Ana", "Rui"];
/// let ages = names.map(|name| ask.integer(format!("How old is {name}?")).range(0..=150));
/// let ages = ask.together(Vec::from(ages)).await?;
/// # Ok(()) }
/// ```
///
/// What is no question cannot be asked:
///
/// ```compile_fail,E0277
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// ask.together(("Name", "Age")).await?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not questions that can be asked together",
    label = "not questions",
    note = "give a tuple of two to six questions, `(ask.text(..), ask.confirm(..))`, or a `Vec` of one kind"
)]
pub trait Together: Send {
    /// One answer for each question, in their order.
    type Answers;

    /// Puts them.
    #[doc(hidden)]
    fn ask(self) -> impl Future<Output = Result<Self::Answers, AskError>> + Send;
}

impl<K: Kind + Sync> Together for Vec<Question<K>> {
    type Answers = Vec<Answer<K::Value>>;

    async fn ask(self) -> Result<Self::Answers, AskError> {
        try_join_all(self.into_iter().map(IntoFuture::into_future)).await
    }
}

macro_rules! tuple {
    ($($kind:ident $at:tt),+) => {
        impl<$($kind: Kind + Sync),+> Together for ($(Question<$kind>,)+) {
            type Answers = ($(Answer<$kind::Value>,)+);

            async fn ask(self) -> Result<Self::Answers, AskError> {
                tokio::try_join!($(self.$at.into_future()),+)
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
