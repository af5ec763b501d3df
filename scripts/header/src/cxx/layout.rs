//! Lays out the lines of the generated header.

/// Descriptions of failures in C comments, and their replacements for C++, which throws.
const ON_ERROR: &[(&str, &str)] = &[
    (" before the first write and on error", " before the first write"),
    (" if not and on error", " if not"),
    (", and on error", ""),
    ("; NULL on error", ""),
    ("; NaN on error", ""),
    ("; -1 on error", ""),
    ("; 0 on error", ""),
    (" NULL on error.", ""),
    ("; `TH_UNDEFINED` on error", ""),
    (" `TH_UNDEFINED` on error.", ""),
];

/// A function in lines of at most 120 columns. The body `;` makes a declaration.
pub fn code(head: &str, body: &str, indent: &str) -> String {
    match body {
        ";" => return wrapped(&format!("{head};"), indent),
        "" => return wrapped(&format!("{head} {{}}"), indent),
        _ => {}
    }
    let line = format!("{indent}{head} {{ {body} }}\n");
    if line.chars().count() <= WIDTH + 1 {
        return line;
    }
    let inner = format!("{indent}    ");
    let statements = statements(body).into_iter().map(|statement| wrapped(&statement, &inner)).collect::<String>();
    format!("{}{statements}{indent}}}\n", wrapped(&format!("{head} {{"), indent))
}

/// The statements of a body. Statements within braces stay together.
fn statements(body: &str) -> Vec<String> {
    let (mut list, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, letter) in body.char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if depth == 0 && letter == ';' {
            list.push(body[from..=at].trim().to_owned());
            from = at + 1;
        }
    }
    list
}

/// A statement, wrapped after commas.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), indent.to_owned());
    for (at, piece) in text.split(", ").enumerate() {
        let piece = if at == 0 { piece.to_owned() } else { format!(", {piece}") };
        if at > 0 && line.chars().count() + piece.chars().count() > WIDTH - 1 {
            out += &format!("{line},\n");
            line = format!("{indent}    {}", &piece[2..]);
        } else {
            line += &piece;
        }
    }
    format!("{out}{line}\n")
}

/// Maximum columns of the header.
pub const WIDTH: usize = 120;

/// Columns of the line before a chapter, without two slashes and three spaces.
pub const RULE: usize = WIDTH - 5;

/// A comment.
pub fn comment(doc: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    let doc = ON_ERROR.iter().fold(doc.to_owned(), |doc, (said, instead)| doc.replace(said, instead));
    for word in words(&doc) {
        if !line.is_empty() && indent.len() + 5 + line.chars().count() + word.chars().count() > WIDTH {
            out += &format!("{indent}/// {line}\n");
            line.clear();
        }
        line = with_space(&line, &word);
    }
    if !line.is_empty() {
        out += &format!("{indent}/// {line}\n");
    }
    out
}

/// The words of a text. A piece of code is one word.
fn words(text: &str) -> Vec<String> {
    let (mut list, mut is_code) = (vec![String::new()], false);
    for letter in text.chars() {
        is_code ^= letter == '`';
        if letter == ' ' && !is_code {
            list.push(String::new());
        } else {
            list.last_mut().expect("there is a first word").push(letter);
        }
    }
    list.retain(|word| !word.is_empty());
    list
}

fn with_space(line: &str, word: &str) -> String {
    if line.is_empty() { word.to_owned() } else { format!("{line} {word}") }
}
