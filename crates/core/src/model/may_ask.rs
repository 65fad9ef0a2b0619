//! Whether a model may be asked a question.

use super::ToolHints;
use crate::elicitation::{Elicitation, Wanted};
use crate::form::{Form, Kind};

/// Whether a model may ask a person this.
///
/// What a model says isn't taken for a person's word. So it never opens links or hears secrets, and it
/// confirms what may destroy something only if policy lets it (`model_may_confirm`). `tools` are those
/// in whose calls the question can have come up.
///
/// ```
/// use midcall_core::model::{NotForModels, QuestionFacts, ToolHints, may_ask};
/// use midcall_core::{Form, Limits};
///
/// let sure = Form::read(
///     r#"{"type": "object", "properties": {"sure": {"type": "boolean"}}}"#,
///     &Limits::default(),
/// )?;
/// let sure = QuestionFacts::of_form(&sure, false);
/// let looks = ToolHints { read_only: Some(true), ..ToolHints::default() };
/// assert_eq!(may_ask(sure, [looks], false), Ok(()));
/// let writes = ToolHints::default();
/// assert_eq!(may_ask(sure, [looks, writes], false), Err(NotForModels::Destructive));
/// assert_eq!(may_ask(sure, [looks, writes], true), Ok(()));
/// # Ok::<(), midcall_core::FormError>(())
/// ```
pub fn may_ask(
    question: QuestionFacts,
    tools: impl IntoIterator<Item = ToolHints>,
    model_may_confirm: bool,
) -> Result<(), NotForModels> {
    let may_destroy =
        |tool: ToolHints| tool.says_destructive() || (tool.says_nothing() && question.is_yes_or_no);
    if question.is_link {
        Err(NotForModels::Link)
    } else if question.asks_secret {
        Err(NotForModels::Secret)
    } else if !model_may_confirm && (question.is_destructive || tools.into_iter().any(may_destroy))
    {
        Err(NotForModels::Destructive)
    } else {
        Ok(())
    }
}

/// What decides whether a model may be asked a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionFacts {
    is_link: bool,
    asks_secret: bool,
    is_destructive: bool,
    is_yes_or_no: bool,
}

/// Why a model isn't asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotForModels {
    /// A person opens a link.
    #[error("a model must not open a link")]
    Link,
    /// The form asks for a secret.
    #[error("a model must not hear a secret")]
    Secret,
    /// Something may be destroyed, and policy doesn't let a model confirm that.
    #[error("a model must not agree to what may destroy something")]
    Destructive,
}

impl QuestionFacts {
    /// The facts about a form. `is_destructive` is whether its server says that accepting it destroys
    /// something.
    pub fn of_form(form: &Form, is_destructive: bool) -> Self {
        let fields = form.walk();
        Self {
            is_link: false,
            asks_secret: fields.iter().any(|(_, field)| field.secret().is_some()),
            is_destructive,
            is_yes_or_no: is_yes_or_no(form),
        }
    }

    /// The facts about a link.
    pub fn of_link(is_destructive: bool) -> Self {
        Self {
            is_link: true,
            asks_secret: false,
            is_destructive,
            is_yes_or_no: false,
        }
    }
}

impl From<&Elicitation> for QuestionFacts {
    fn from(elicitation: &Elicitation) -> Self {
        match &elicitation.wanted {
            Wanted::Link(_) => Self::of_link(elicitation.destructive),
            Wanted::Form(form) => Self {
                is_link: false,
                asks_secret: elicitation.asks_secret,
                is_destructive: elicitation.destructive,
                is_yes_or_no: is_yes_or_no(form),
            },
        }
    }
}

/// Whether accepting the form is all that can be said, or a single yes or no.
fn is_yes_or_no(form: &Form) -> bool {
    let mut fields = form.fields.iter();
    match (fields.next(), fields.next()) {
        (None, _) => true,
        (Some(only), None) => matches!(only.kind, Kind::Switch),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Asker, Limits};

    /// The same facts, whether they come from a form or from the question around it.
    fn facts(params: Value) -> QuestionFacts {
        let limits = Limits::default();
        let asker = Asker::named("files");
        let question = Elicitation::read(&params.to_string(), asker, &limits).unwrap();
        let facts = QuestionFacts::from(&question);
        if let Some(schema) = params.get("requestedSchema")
            && params.pointer("/_meta/dev.midcall~1hints").is_none()
        {
            let form = Form::from_value(schema.clone(), &limits).unwrap();
            assert_eq!(QuestionFacts::of_form(&form, question.destructive), facts);
        }
        facts
    }

    fn form(properties: Value) -> QuestionFacts {
        facts(
            json!({"message": "?", "requestedSchema": {"type": "object", "properties": properties}}),
        )
    }

    fn tool(annotations: Value) -> ToolHints {
        let tool = json!({"name": "t", "annotations": annotations});
        ToolHints::read(tool.as_object().unwrap())
    }

    #[test]
    fn a_model_asks_what_it_cannot_do_harm_with() {
        use NotForModels::*;
        let looks = tool(json!({"readOnlyHint": true}));
        let deletes = tool(json!({"destructiveHint": true}));
        let adds = tool(json!({"destructiveHint": false}));
        let says_nothing = tool(json!(null));
        let says_it_writes = tool(json!({"readOnlyHint": false}));
        let looks_for_sure = tool(json!({"readOnlyHint": true, "destructiveHint": true}));

        let name = json!({"name": {"type": "string"}});
        let sure = json!({"sure": {"type": "boolean"}});
        let two = json!({"a": {"type": "boolean"}, "b": {"type": "boolean"}});
        let secret = json!({"user": {"type": "string"}, "password": {"type": "string"}});
        let inner = json!({"login": {"type": "object", "properties": secret}});
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let link = facts(json!({"message": "?", "mode": "url", "url": "https://a.example/"}));
        let wipe = facts(json!({"message": "?", "requestedSchema": schema,
            "_meta": {"dev.midcall/destructive": true}}));
        let marked = facts(json!({"message": "?", "requestedSchema": schema,
            "_meta": {"dev.midcall/hints": {"/name": {"secret": true}}}}));

        for (question, tools, expected) in [
            (form(name.clone()), vec![], Ok(())),
            (form(name.clone()), vec![says_nothing], Ok(())),
            (form(name.clone()), vec![says_it_writes, adds], Ok(())),
            (form(name.clone()), vec![deletes], Err(Destructive)),
            (form(name), vec![looks, deletes], Err(Destructive)),
            (form(sure.clone()), vec![], Ok(())),
            (form(sure.clone()), vec![looks], Ok(())),
            (form(sure.clone()), vec![looks_for_sure, adds], Ok(())),
            (form(sure.clone()), vec![says_nothing], Err(Destructive)),
            (form(sure), vec![says_it_writes], Err(Destructive)),
            (form(json!({})), vec![says_nothing], Err(Destructive)),
            (form(two), vec![says_nothing], Ok(())),
            (wipe, vec![looks], Err(Destructive)),
            (form(secret), vec![looks], Err(Secret)),
            (form(inner), vec![deletes], Err(Secret)),
            (marked, vec![looks], Err(Secret)),
            (link, vec![deletes], Err(Link)),
        ] {
            let asked = || may_ask(question, tools.clone(), false);
            assert_eq!(asked(), expected, "{question:?} {tools:?}");
            // Policy can let a model confirm, and no more.
            let expected = expected.or_else(|why| match why {
                Destructive => Ok(()),
                other => Err(other),
            });
            assert_eq!(may_ask(question, tools.clone(), true), expected);
        }
    }
}
