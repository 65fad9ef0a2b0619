//! Results of tools that Midcall gives itself.

use serde_json::{Value, json};

use crate::catalog::Locale;
use crate::form::Problem;
use crate::values::Unfit;
use crate::wire::meta;

/// The result of a tool that couldn't do what it was called for.
///
/// ```
/// use midcall_core::model::error;
/// # use serde_json::json;
///
/// assert_eq!(
///     error("Not today"),
///     json!({"isError": true, "content": [{"type": "text", "text": "Not today"}]})
/// );
/// ```
pub fn error(words: &str) -> Value {
    json!({"isError": true, "content": content(words)})
}

/// Why an answer isn't taken, problem by problem: the model can mend it and send it again.
pub fn unfit(unfit: &Unfit, locale: Locale) -> Value {
    let mut words = locale.say("mcp.elicitation.model.unfit", &[]);
    let line = |problem: &Problem| {
        let path = Some(problem.path.as_str()).filter(|path| !path.is_empty());
        format!("\n{}: {}", path.unwrap_or("/"), problem.fault.say(locale))
    };
    words.extend(unfit.problems.iter().map(line));
    let mut told = error(&words);
    told["_meta"] = json!({meta::PROBLEMS: unfit.problems});
    told
}

/// What is answered to a claim that was never given, or that has expired.
pub fn unknown_claim() -> Value {
    error(
        "There is no such claim: it was never given, or its result was kept for ten minutes and is gone.",
    )
}

/// What is answered to a claim whose result too many requests wait for.
pub fn too_many_collect() -> Value {
    error(
        "Too many calls wait for this result already. Wait for one of them to return, or call again later.",
    )
}

/// The result of a tool, as a text.
pub(super) fn text(words: &str) -> Value {
    json!({"content": content(words)})
}

fn content(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Fault;

    #[test]
    fn an_answer_that_does_not_fit_is_told_problem_by_problem() {
        let problems = [
            ("", Fault::TooBig),
            ("/name", Fault::TooShort(3)),
            ("/a~1b", Fault::Required),
        ];
        let problems = problems.map(|(path, fault)| Problem {
            path: path.to_owned(),
            fault,
        });
        let told = unfit(
            &Unfit {
                problems: problems.into(),
            },
            Locale::EnUs,
        );
        let words = "This answer does not fit the question. Ask the person again about these and call the tool once more\
            \n/: ";
        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(words), "{text}");
        assert!(
            text.contains("\n/name: Use at least 3 characters\n/a~1b: "),
            "{text}"
        );
        let rest = told
            .to_string()
            .replace(&Value::from(text).to_string(), "…");
        assert_eq!(
            rest,
            r#"{"isError":true,"content":[{"type":"text","text":…}],"_meta":{"dev.midcall/problems":[{"path":"","key":"mcp.elicitation.problem.too_big","params":{}},{"path":"/name","key":"mcp.elicitation.problem.too_short","params":{"count":3}},{"path":"/a~1b","key":"mcp.elicitation.problem.required","params":{}}]}}"#
        );
    }
}
