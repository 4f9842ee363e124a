use std::{collections::HashSet, fmt::Write as _};

/// A URI template (RFC 6570), as in `resources/templates/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Literal(String),
    Expression(Operator, Vec<Variable>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    /// `:3`: only the first characters.
    prefix: Option<usize>,
    /// `*`: each value of a list separately.
    explode: bool,
}

/// How an expression is expanded (RFC 6570, appendix A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operator {
    first: &'static str,
    between: &'static str,
    named: bool,
    /// What follows the name of an empty value.
    if_empty: &'static str,
    keeps_reserved: bool,
}

impl Operator {
    fn of(sign: Option<char>) -> Option<Self> {
        let operator = |first, between, named, if_empty, keeps_reserved| {
            Some(Self { first, between, named, if_empty, keeps_reserved })
        };
        match sign {
            None => operator("", ",", false, "", false),
            Some('+') => operator("", ",", false, "", true),
            Some('#') => operator("#", ",", false, "", true),
            Some('.') => operator(".", ".", false, "", false),
            Some('/') => operator("/", "/", false, "", false),
            Some(';') => operator(";", ";", true, "", false),
            Some('?') => operator("?", "&", true, "=", false),
            Some('&') => operator("&", "&", true, "=", false),
            Some(_) => None,
        }
    }
}

impl UriTemplate {
    /// The template in `text`, or `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (literal, after) = rest.split_at(open);
            let (inside, after) = after[1..].split_once('}')?;
            if !literal.is_empty() {
                parts.push(TemplatePart::Literal(literal.to_owned()));
            }
            let sign = inside.chars().next().filter(|c| !c.is_alphanumeric() && !matches!(c, '_' | '%'));
            let names = &inside[sign.map_or(0, char::len_utf8)..];
            let variables = names.split(',').map(Variable::parse).collect::<Option<Vec<_>>>()?;
            parts.push(TemplatePart::Expression(Operator::of(sign)?, variables));
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Literal(rest.to_owned()));
        }
        Some(Self { parts })
    }

    /// The names of the variables, each once, in order.
    pub fn variables(&self) -> Vec<&str> {
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for part in &self.parts {
            let TemplatePart::Expression(_, variables) = part else { continue };
            names.extend(variables.iter().map(|variable| variable.name.as_str()).filter(|name| seen.insert(*name)));
        }
        names
    }

    /// The names of the variables that the URI needs: those that are not in a query.
    pub fn required(&self) -> Vec<&str> {
        let needed = self.parts.iter().filter_map(|part| match part {
            TemplatePart::Expression(operator, variables) if !operator.named => Some(variables),
            _ => None,
        });
        let needed: HashSet<&str> = needed.flatten().map(|variable| variable.name.as_str()).collect();
        self.variables().into_iter().filter(|name| needed.contains(name)).collect()
    }

    /// The URI with its variables replaced. A variable without a value in `values` is left out.
    pub fn expand(&self, values: impl Fn(&str) -> Vec<String>) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(text) => push(&mut uri, text, true),
                TemplatePart::Expression(operator, variables) => {
                    let mut lead = operator.first;
                    for variable in variables {
                        let values = values(&variable.name);
                        let groups: Vec<&[String]> = match values.as_slice() {
                            [] => continue,
                            values if variable.explode => values.chunks(1).collect(),
                            values => vec![values],
                        };
                        for group in groups {
                            uri.push_str(lead);
                            lead = operator.between;
                            variable.write(&mut uri, *operator, group);
                        }
                    }
                }
            }
        }
        uri
    }
}

impl Variable {
    fn parse(text: &str) -> Option<Self> {
        let (text, explode) = text.strip_suffix('*').map_or((text, false), |text| (text, true));
        let (name, prefix) = match text.split_once(':') {
            Some((name, digits)) => (name, Some(digits.parse().ok()?)),
            None => (text, None),
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '-');
        let fits = !name.is_empty() && name.chars().all(is_name);
        fits.then(|| Self { name: name.to_owned(), prefix, explode })
    }

    fn write(&self, uri: &mut String, operator: Operator, values: &[String]) {
        if operator.named {
            push(uri, &self.name, true);
            uri.push_str(if values.iter().all(String::is_empty) { operator.if_empty } else { "=" });
        }
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                uri.push(',');
            }
            let cut: String = value.chars().take(self.prefix.unwrap_or(usize::MAX)).collect();
            push(uri, &cut, operator.keeps_reserved);
        }
    }
}

/// `text` with every character percent-encoded that is not allowed in a URI. `%XX` is kept if reserved characters are.
fn push(uri: &mut String, text: &str, keeps_reserved: bool) {
    for (at, c) in text.char_indices() {
        let is_encoded =
            || text.as_bytes().get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
        let stays = c.is_ascii_alphanumeric()
            || matches!(c, '-' | '.' | '_' | '~')
            || keeps_reserved && (":/?#[]@!$&'()*+,;=".contains(c) || c == '%' && is_encoded());
        if stays {
            uri.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            // Writing to a string cannot fail.
            _ = write!(uri, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_variables_are_told_once_and_in_order() {
        let names: Vec<String> = (0..20_000).map(|index| format!("v{index}")).collect();
        let template = format!("a:{{{0}}}{{{0}}}{{?q,v1}}", names.join(","));
        let template = UriTemplate::parse(&template).expect("a template");
        assert_eq!(template.variables().len(), 20_001);
        assert_eq!((template.variables()[19_999], template.variables()[20_000]), ("v19999", "q"));
        assert_eq!(template.required().len(), 20_000);
    }

    fn expanded(template: &str) -> String {
        UriTemplate::parse(template).expect(template).expand(|name| {
            match name {
                "var" => vec!["value"],
                "hello" => vec!["Hello World!"],
                "path" => vec!["/foo/bar"],
                "list" => vec!["red", "green", "blue"],
                "x" => vec!["1024"],
                "y" => vec!["768"],
                "empty" => vec![""],
                _ => vec![],
            }
            .into_iter()
            .map(str::to_owned)
            .collect()
        })
    }

    #[test]
    fn the_examples_of_the_rfc() {
        for (template, uri) in [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{+hello}", "Hello%20World!"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"),
            ("X{#var}", "X#value"),
            ("map?{x,y}", "map?1024,768"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            ("X{.var}", "X.value"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{var:3}", "val"),
            ("{list}", "red,green,blue"),
            ("{/list*}", "/red/green/blue"),
            ("{?list*}", "?list=red&list=green&list=blue"),
            ("{?undef,y}", "?y=768"),
            ("X{.undef}", "X"),
            ("file:///{+path}", "file:////foo/bar"),
            ("a b%20%zz", "a%20b%20%25zz"),
        ] {
            assert_eq!(expanded(template), uri, "{template}");
        }
    }

    #[test]
    fn variables_are_known_and_queries_optional() {
        let template = UriTemplate::parse("demo://{city}/{+path}{?units,city}").expect("a template");
        assert_eq!(template.variables(), ["city", "path", "units"]);
        assert_eq!(template.required(), ["city", "path"]);
    }

    #[test]
    fn other_text_is_not_a_template() {
        for text in ["{", "a}", "{}", "{a b}", "{a,}", "{=x}", "{a:x}", "{{a}}"] {
            assert_eq!(UriTemplate::parse(text), None, "{text}");
        }
        assert!(UriTemplate::parse("plain:uri").is_some_and(|template| template.variables().is_empty()));
    }
}
