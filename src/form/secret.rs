use super::{Field, FieldKind};

/// Whether the field looks like a secret: `format: password`, `writeOnly`, or its name.
pub(super) fn is_secret(field: &Field) -> bool {
    let told = field.schema.get("format").is_some_and(|format| *format == "password")
        || field.schema.get("writeOnly").is_some_and(|only| *only == true);
    // Yes or no, or one of a few values, is not a secret, whatever its name.
    let could_be = matches!(field.kind, FieldKind::Text(_) | FieldKind::Number(_) | FieldKind::Json);
    told || (could_be && (names_secret(&field.key) || field.title.as_deref().is_some_and(names_secret)))
}

/// Words that mean a secret anywhere inside a word, so that compounds are found.
const ANYWHERE: &str = "password passwd passphrase passcode apikey privatekey secretkey accesskey accesstoken authtoken \
    refreshtoken clientsecret cardnumber creditcard passwort kennwort motdepasse contraseña contrasena \
    wachtwoord lösenord losenord adgangskode salasana şifre jelszó hasło пароль пароля 密码 密碼 口令 密钥 密鑰 パスワード \
    暗証番号 秘密鍵 비밀번호 암호 รหัสผ่าน";

/// Words that mean a secret at the end of a name, or before words that only say that it is a value.
const LAST: &str = "secret secrets token pwd pin pincode cvv cvc cvv2 csc otp totp ssn credential credentials mnemonic senha \
    heslo haslo sifre parola passord jelszo geheimnis secreto clave סיסמה סיסמא pass";

/// Pairs of words that mean a secret together at the end of a name.
const PAIRS: [(&str, &str); 9] = [
    ("key", "api private secret access encryption signing ssh auth master service"),
    ("keys", "api private secret access encryption signing ssh"),
    ("tokens", "access api auth refresh bearer"),
    ("number", "card security"),
    ("code", "security pin recovery backup"),
    ("phrase", "seed recovery pass secret"),
    ("passe", "de"),
    ("sandi", "kata"),
    ("secreta", "clave palabra"),
];

/// Secrets of several words.
const PHRASES: [&str; 4] = ["mot de passe", "kata sandi", "mật khẩu", "كلمة المرور"];

/// Words that may follow a secret's name without changing its meaning.
const STILL: &str = "value key token code number answer phrase text string again confirm confirmation";

/// Words after a secret's name that make it something about the secret, not the secret itself.
const ABOUT: &str = "length len count limit limits policy hint type name expiry expires expiration age ttl per min max size \
    format strength rotation url uri endpoint field label env path id";

/// Words before `token` that make it something else.
const OTHER_TOKENS: &str = "page next previous prev continuation sync cursor max min stop per first last";

/// Words before `pass` or `pin` that make it an ordinary thing.
const THINGS: &str = "boarding bus ski day season gpio led drawing safety bowling map rolling";

/// Whether a key or title names a secret. Words are separated by case, underscores and the like, so that a passport, a
/// pinned post, a secretary or the tokens per minute are not secrets.
pub(crate) fn names_secret(name: &str) -> bool {
    let words = words(name);
    let is_about = |index: usize| words.get(index + 1).is_some_and(|next| is_in(next, ABOUT));
    let joined = words.join(" ");
    if PHRASES.iter().any(|phrase| joined.contains(phrase)) {
        return true;
    }
    (0..words.len()).any(|index| {
        let word = words[index].as_str();
        let before = index.checked_sub(1).map_or("", |before| words[before].as_str());
        if is_about(index) {
            return false;
        }
        let anywhere = ANYWHERE.split(' ').any(|secret| word.contains(secret)) && !word.ends_with("less");
        anywhere || (is_last(&words, index) && names_at_end(word, before, words.len() == 1))
    })
}

fn names_at_end(word: &str, before: &str, alone: bool) -> bool {
    let paired = PAIRS.iter().any(|(last, firsts)| *last == word && is_in(before, firsts));
    let single = is_in(word, LAST)
        && match word {
            "token" => !is_in(before, OTHER_TOKENS),
            "pin" => !is_in(before, THINGS),
            "clave" => before != "palabra",
            "pass" => alone || is_in(before, "db user smtp ftp mysql my admin root login"),
            _ => true,
        };
    paired || single
}

fn is_in(word: &str, words: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// Whether the name ends here, or continues only to say that it is a value.
fn is_last(words: &[String], index: usize) -> bool {
    words[index + 1..].iter().all(|word| is_in(word, STILL) || word.chars().all(|c| c.is_ascii_digit()))
}

/// The words of `userPIN`, `api_key`, `APIKey` or `Your API key`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = name.chars().collect();
    for (index, &c) in characters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| characters[before]);
        let next = characters.get(index + 1);
        let starts = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || (before.is_some_and(char::is_uppercase) && next.is_some_and(|next| next.is_lowercase())));
        let belongs = c.is_alphanumeric() || is_mark(c);
        if (starts || !belongs) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if belongs {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether `c` is a vowel sign or accent that belongs to the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

#[cfg(test)]
mod tests {
    use super::names_secret;

    #[test]
    fn names_of_secrets_are_known() {
        for name in "password|userPassword|user_passwd|PWD|api_key|apiKey|APIKey|X-API-Key|Your API key|secret|\
            client_secret|secretKey|token|access_token|githubToken|bearerToken|pin|userPIN|PIN code|cvv|CVC|\
            card number|cardNumber|creditCardNumber|private key|privateKey|ssh_key|passphrase|Passwort|\
            Benutzerpasswort|Kennwort|mot de passe|Votre mot de passe|contraseña|Contraseña|senha|пароль|Пароль|\
            密码|请输入密码|パスワード|비밀번호|password2|new_password_confirm|security code|seed phrase|otp|db_pass|pass|\
            credentials|access tokens|hasło|token_value|Mật khẩu|รหัสผ่าน".split('|') {
            assert!(names_secret(name), "{name}");
        }
    }

    #[test]
    fn similar_names_are_not_secrets() {
        for name in "passport|passport_number|pinned|pinterest|spin|secretary|tokens_per_minute|max_tokens|token_count|\
            page_token|nextPageToken|pageToken|password_policy|passwordLength|passwordless|password_hint|compass|\
            boarding_pass|opinion|shipping|key|primary_key|public_key|keyboard|tokenizer|name|card|number|\
            phone number|author|secretsanta|bypass|gpio_pin|tokenLimit|secret_name|secretId||___|zip code|monkey|\
            passenger|tokens|palabra clave"
            .split('|')
        {
            assert!(!names_secret(name), "{name}");
        }
    }
}
