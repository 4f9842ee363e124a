use serde_json::{Map, Value};

use super::{Answer, Question, Why};

/// How many faults of one answer are listed.
const MOST_FAULTS: usize = 3;

/// Checks `answer` against `question`: it must be for this question, and its content must fit the form. The content is
/// spelled as the form spells it.
///
/// # Errors
/// Why it is not sent.
pub(super) fn held(question: &Question, mut answer: Answer) -> Result<Answer, Why> {
    if answer.id != question.request.id {
        return Err(Why::new(format!("the answer is for another question ({})", answer.id)));
    }
    let form = question.form().filter(|_| question.request.schema().is_some_and(Value::is_object));
    let Some(form) = form.filter(|_| answer.ok) else { return Ok(answer) };
    let content = match answer.data.take() {
        None => Map::new(),
        Some(Value::Object(content)) => content,
        Some(other) => {
            let kind = crate::form::type_of(&other);
            return Err(Why::new(format!("the answer's data is {kind}, not an object")));
        }
    };
    let faults = form.check(&content);
    if !faults.is_empty() {
        let told: Vec<String> = faults.iter().take(MOST_FAULTS).map(ToString::to_string).collect();
        let more = if faults.len() > MOST_FAULTS { "; and more" } else { "" };
        return Err(Why::new(format!("the answer does not fit the form: {}{more}", told.join("; "))));
    }
    answer.data = Some(Value::Object(form.canonical(content)));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        elicitation::{Cause, Origin, elicitation_to_request, make_answer},
        protocol::{Era, Id},
    };

    fn question(params: &Value) -> Question {
        let cause = Cause::Asked(Id::from(1));
        let origin = Origin { server: "s".into(), call: None, is_tool: false, era: Era::Legacy, cause };
        Question::new(elicitation_to_request(params), origin)
    }

    fn name_and_age() -> Question {
        question(&json!({"requestedSchema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}}}}))
    }

    #[test]
    fn what_breaks_the_form_is_not_sent() {
        let question = name_and_age();
        for (data, reason) in [
            (Some(json!({"name": 7})), "does not fit the form: name: 7 is a number, not text"),
            (Some(json!({})), "does not fit the form: name: required, but missing"),
            (None, "does not fit the form: name: required, but missing"),
            (Some(json!({"name": "A"})), "name: A is too short"),
            (Some(json!({"name": "Ada", "nmae": "x"})), "nmae: not a field of this form; did you mean name?"),
            (Some(json!(["Ada"])), "data is a list, not an object"),
            (Some(json!({"name": "Ada", "age": "36"})), "age: \"36\" is text"),
        ] {
            let why = held(&question, make_answer(&question.request.id, true, data.clone())).expect_err("refused");
            assert!(why.reason.contains(reason), "{data:?}: {}", why.reason);
        }
    }

    #[test]
    fn another_questions_answer_is_not_sent() {
        let question = name_and_age();
        for ok in [true, false] {
            let why = held(&question, make_answer("elc-0-0", ok, Some(json!({"name": "Ada"})))).expect_err("refused");
            assert_eq!(why.reason, "the answer is for another question (elc-0-0)");
        }
    }

    #[test]
    fn what_fits_is_spelled_as_the_form_spells_it() {
        let question = name_and_age();
        let age: Value = serde_json::from_str(r#"{"name": "Ada", "age": 36.0}"#).expect("JSON");
        let sent = held(&question, make_answer(&question.request.id, true, Some(age))).expect("fits");
        assert_eq!(sent.data.map(|data| data.to_string()).as_deref(), Some(r#"{"name":"Ada","age":36}"#));
        let no = held(&question, Answer::decline(&question.request.id)).expect("a no");
        assert_eq!(no, Answer::decline(&question.request.id));
        // Without a form, any content is fine.
        let free = self::question(&json!({"message": "Well?"}));
        let sent = held(&free, make_answer(&free.request.id, true, Some(json!({"any": 1})))).expect("free");
        assert_eq!(sent.data, Some(json!({"any": 1})));
    }
}
