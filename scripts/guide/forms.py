"""Prints thorn.hpp with comments for Doxygen. docs/Doxyfile.in uses this program as a filter: `forms.py thorn.hpp`.

thorn.hpp has one comment for each operation. The other forms of the operation (`add_`, `add_out`, the free function) have no comment. The
filter adds a comment that names the function of C, or the member, that the form calls. The lines keep their numbers.
"""

import re
import sys

CLASS = re.compile(r"^(?:template <.*> )?(class|struct) (?:\[\[nodiscard\]\] )?(\w+)[^;]*$")
FUNCTION = re.compile(r"^(?:inline|    (?!return\b|using\b|static_assert\b)[A-Za-z~]).*\(")
FIELDS = re.compile(r"^    (Tensor|bool|int64_t|const char \*|const Tensor \*|Kind) ?(\w[^()]*);$")
CONSTANT = re.compile(r"^inline constexpr Dtype \w+ = (Dtype::\w+);$")
FUNCTION_OF_C = re.compile(r"\b(TH[A-Z]?[A-Za-z]*_\w+|TH[A-Z][a-z]\w+)\(")
MEMBER = re.compile(r"\breturn \*?\w+\.(\w+)\(")
FUNCTION_OF_CXX = re.compile(r"\breturn (?!detail)(\w+)\(")


def declaration(lines, start):
    """The text of a declaration, with its body."""
    indent = re.match(" *", lines[start]).group()
    text = lines[start]
    for line in lines[start + 1:start + 60]:
        if text.endswith((";", "}")) and text.count("{") == text.count("}"):
            break
        text += "\n" + line
        if line.startswith(indent + "}"):
            break
    return text


def about(text, owner):
    """What the comment of an undocumented function says. `owner` is the class of a member."""
    head, _, body = text.partition("{")
    if called := FUNCTION_OF_C.search(body):
        return f"A form of {called.group(1)}."
    if called := MEMBER.search(body):
        kind = "SparseTensor" if re.search(r"\(const SparseTensor &", head) else "Tensor"
        return f"The same as {kind}::{called.group(1)}."
    if called := FUNCTION_OF_CXX.search(body):
        return f"The same as `{called.group(1)}`."
    return f"A member of {owner}." if owner and head.startswith("    ") else None


def documented(lines):
    before, owner, kind = "", None, None
    for number, line in enumerate(lines):
        if found := CLASS.match(line):
            kind, owner = found.groups()
        above = before.strip()
        head = above.startswith("template") and not above.endswith("}")
        bare = not head and not above.startswith("///") and not above.endswith(("*/", ",", "(", "="))
        text = None
        if bare and (fields := FIELDS.match(line)):
            what = "A field" if owner in ("Index", "Bound", "NamedTensor", "SizeRange") else "A result"
            line = " ".join(f"/** {what}. */ {fields.group(1)} {name.strip()};" for name in fields.group(2).split(","))
        elif bare and (constant := CONSTANT.match(line)):
            text = f"The same as {constant.group(1)}."
        elif bare and FUNCTION.match(line):
            text = about(declaration(lines, number), owner)
        elif line == "namespace th {":
            text = "Tensors as values, and the functions on them. The comment at the top of thorn.hpp states the conventions."
        elif bare and line.startswith("    enum class"):
            text = f"The kinds of {owner}."
        elif bare and line.startswith("    template <"):
            text = f"A member of {owner}."
        yield f"/** {text} */ {line}" if text else line
        before = line


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(documented(file.read().split("\n"))), end="")
