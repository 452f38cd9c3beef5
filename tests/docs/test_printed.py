"""What programs print, on a page: sentences wrap, and tables scroll."""

from support.site import extension


def test_printed_tables_stay_and_sentences_wrap():
    lexer = extension("printed").PrintedLexer()
    text = "With 99 % of all |y − T(x)| ≤ 2.\n  name   bound\n  coast  2.5\n"
    tokens = list(lexer.get_tokens(text))
    assert "".join(part for _, part in tokens) == text
    kinds = {part: str(kind).rpartition(".")[2] for kind, part in tokens}
    assert kinds["99 %"] == kinds["|y − T(x)| ≤ 2."] == "Formula"
    assert kinds["all"] == "Sentence"
    assert kinds["  name   bound\n"] == kinds["  coast  2.5\n"] == "Text"


def test_what_a_session_prints_wraps_and_its_code_does_not():
    lexer = extension("printed").SessionLexer()
    text = ">>> print(certificate)  # it was made before\nWith 99 % of all rows.\n"
    tokens = list(lexer.get_tokens(text))
    assert "".join(part for _, part in tokens) == text
    kinds = {part: str(kind).rpartition(".")[2] for kind, part in tokens}
    assert (kinds["99 %"], kinds["all"], kinds["print"]) == ("Formula", "Sentence", "Builtin")
