"""How languages write what they read plainly: the expressions and names behind ``spelling``."""

_HEX2 = r"x(?P<hex_two>[0-9a-fA-F]{2})"
_HEX_SHORT = r"x(?P<hex_short>[0-9a-fA-F]{1,2})"
_HEX_FOUR = r"x(?P<hex_four>[0-9a-fA-F]{1,4})"
_HEX_LONG = r"x0{0,40}(?P<hex_long>[0-9a-fA-F]{1,6})(?![0-9a-fA-F])"
_UNICODE4 = r"u(?P<hex_unicode>[0-9a-fA-F]{4})"
_UNICODE8 = r"U(?P<hex_wide>[0-9a-fA-F]{8})"
_UNICODE_BRACED = r"u\{0{0,40}(?P<hex_braced>[0-9a-fA-F]{1,6})\}"
_OCTAL = r"(?P<octal>[0-7]{1,3})"
_OCTAL3 = r"(?P<octal>[0-7]{3})"
_NAMED = r"N\{(?P<name>[A-Za-z0-9 -]{1,80})\}"
_ANY = r"(?P<pair>[\s\S])"


def _form(*kinds: str, sign: str = r"\\") -> str:
    """Escapes of these kinds; any other takes the character after its sign with it, so that ``\\\\x41`` is none."""
    return f"{sign}(?:{'|'.join((*kinds, _ANY))})"


_JOINED_NAME = r"(?<=\w)(?P<joined>(?:\\[ \t]{0,8}\n)++)(?=\w)"
"""A name of C that goes on in the next line, as the language joins lines before it looks for anything else. Not with
the trigraph for the back slash, which few compilers read."""
_C_SIGN = r"(?:\\|\?\?/)"
_SCRIPT_FORM = _form(_HEX2, _UNICODE4, _UNICODE_BRACED, _OCTAL)
_C_FORM = rf"{_JOINED_NAME}|{_form(_HEX_LONG, _UNICODE4, _UNICODE8, _OCTAL, sign=_C_SIGN)}"

ESCAPE_FORMS = {
    "python": _form(_HEX2, _UNICODE4, _UNICODE8, _OCTAL, _NAMED),
    "javascript": _SCRIPT_FORM,
    "typescript": _SCRIPT_FORM,
    "java": _form(r"(?:u++005[cC])?" + _OCTAL, r"u++(?P<anywhere>[0-9a-fA-F]{4})"),
    "c": _C_FORM,
    "cpp": _C_FORM,
    "csharp": _form(_HEX_FOUR, _UNICODE4, _UNICODE8),
    "go": _form(_HEX2, _UNICODE4, _UNICODE8, _OCTAL3),
    "kotlin": _form(_UNICODE4),
    "php": _form(_HEX_SHORT, _UNICODE_BRACED, _OCTAL),
    "ruby": _form(_HEX_SHORT, _UNICODE4, _UNICODE_BRACED, _OCTAL),
    "bash": _form(_HEX_SHORT, r"u(?P<hex_unicode>[0-9a-fA-F]{1,4})", r"U(?P<hex_wide>[0-9a-fA-F]{1,8})", _OCTAL),
}
"""semgrep's name of a language → its escapes. Groups ``hex_…``, ``octal``, ``name`` say what an escape stands for."""

_FEW_SIGNS = frozenset(" -.:,@")
"""Where there are regular expressions between slashes."""
PLAIN_SIGNS = {
    **dict.fromkeys(ESCAPE_FORMS, frozenset(" -./:,;=+@!<()&|~^%[]")),
    **dict.fromkeys(("javascript", "typescript", "ruby"), _FEW_SIGNS),
    "python": frozenset(" -./:,;=*+@!<>()&|~^?%[]#"),
    "php": frozenset(" -./:,;=+@!()&|~^[]"),
    "bash": frozenset("-./+"),
}
"""What an escape may stand for besides letters, digits and ``_``. Nobody tells here whether it stands in a literal, in
a comment or in a regular expression; so it is nothing that could end or begin one of these: no quote, no back slash,
no line's end, no ``*`` and ``?>`` of a comment. ``/`` is written out where neither neighbour makes a comment of it."""
NEIGHBOURS_OF_A_SLASH = frozenset("*/\\")

_IN_WORD = r"[\w./:-]*+"
_SCRIPT_WORD = rf"{_IN_WORD}(?:\\(?:[A-Zac-eg-moqpswyz\n]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}){_IN_WORD})++"
_RUBY_WORD = rf"{_IN_WORD}(?:\\(?:[ABD-LN-Zdg-moqpwyz\n]|x[0-9a-fA-F]{{1,2}}|u[0-9a-fA-F]{{4}}){_IN_WORD})++"
_C_WORD = rf"{_IN_WORD}(?:\\(?:[A-TV-Zcdg-moqpswyz]|x[0-9a-fA-F]{{1,8}}){_IN_WORD})++"
WORD_LITERALS = {
    **dict.fromkeys(("javascript", "typescript"), rf"""(?P<quote>["'`])(?P<word>{_SCRIPT_WORD})(?P=quote)"""),
    **dict.fromkeys(("c", "cpp"), rf'"(?P<word>{_C_WORD})"'),
    "ruby": rf'"(?P<word>{_RUBY_WORD})"',
}
"""Literals of one word in which an escape of a letter is that letter (``"m\\d5"``), or a line's end is nothing."""

TRIGGERS = {
    **dict.fromkeys(("javascript", "typescript", "ruby"), r"\\[\nA-Za-z0-7]"),
    **dict.fromkeys(("c", "cpp"), r"\\[\s0-7xuUA-Za-z]|\?\?/"),
}
"""A text without it holds nothing to undo; ``\\\\[0-7xuUN]`` where none is given."""

CSHARP_FORM = (
    r"""(?<![\w@"$'])@(?:(?P<at>[A-Za-z_]\w*+)|(?=\\[uU]))"""
    r"""|(?<![\w@$"])@"(?P<verbatim>[\w./:-]{1,60}+)"(?!")"""
    r"""|(?<!["$])\"{3}(?P<raw>[\w./:-]{1,60}+)\"{3}(?!")"""
    r"""|(?<=\w)(?P<invisible>[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]++)"""
)
KOTLIN_FORM = r"(?:(?<=\.)|(?<=::))`(?P<member>[A-Za-z_]\w*+)`|`(?P<ticked>[A-Za-z_]\w*+)`(?=\s*+\(|\.\w|::)"
PHP_FORM = (
    r"(?<![\w$\\])(?P<called>\\?[A-Za-z_]\w*+)(?=\s*+\()"
    r"""|(?P<quote>["'])(?P<named>[A-Za-z_\\][\w\\{}]{2,80})(?P=quote)"""
)
SHELL_FORM = (
    r"(?<![^\s;|&(){}`!])(?:"
    r"[\w./+-]++(?:\\[\w./+-]|\\\n|'[\w./+-]*+'|\"[\w./+-]*+\"|\$'(?:[\w./+-]|\\[0-7xuU][0-9A-Fa-f]{0,8})*+')"
    r"|(?:'[\w./+-]*+'|\"[\w./+-]*+\")++(?=[\w./+\\$-])"
    r"|\\[A-Za-z]"
    r"|\$(?=['\"])"
    r")(?:[\w./+-]|\\[\w./+-]|\\\n|\$?'(?:[\w./+-]|\\[0-7xuU][0-9A-Fa-f]{0,8})*+'|\$?\"[\w./+-]*+\")*+"
    r"(?=[\s;|&()<>`]|\Z)"
)
"""A word of a shell that is quoted in part."""
_SHELL_JOINED = r"|\\\n"
SHELL_FORM_OF_A_LINE = SHELL_FORM.replace(_SHELL_JOINED, "")
"""The same where no word goes on in the next line."""
SHELL_PIECE = (
    r"\$'(?P<ansi>(?:[\w./+-]|\\[0-7xuU][0-9A-Fa-f]{0,8})*+)'"
    r"|\$?\"(?P<double>[\w./+-]*+)\"|'(?P<single>[\w./+-]*+)'|\\(?P<escaped>[\w./+-])|(?P<end>\\\n)"
)

CSHARP_KEYWORDS = frozenset(
    "abstract as base bool break byte case catch char checked class const continue decimal default delegate do double "
    "else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal "
    "is lock long namespace new null object operator out override params private protected public readonly ref return "
    "sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked "
    "unsafe ushort using virtual void volatile while".split()
)
KOTLIN_KEYWORDS = frozenset(
    "as break class continue do else false for fun if in interface is null object package return super this throw true "
    "try typealias typeof val var when while".split()
)
CALLABLE_NAMES = frozenset(
    "assert create_function eval exec passthru pcntl_exec popen proc_open shell_exec system unserialize".split()
)
"""Functions of PHP that are dangerous by whatever text they are named."""
PHP_NAMES = CALLABLE_NAMES | frozenset(
    "addslashes array_fill array_map base64_decode basename call_user_func call_user_func_array count curl_exec "
    "curl_init curl_setopt die echo escapeshellarg escapeshellcmd exit extract file_get_contents fopen "
    "forward_static_call hash header htmlentities htmlspecialchars implode include include_once intval is_string "
    "join json_encode mb_ereg_replace md5 mt_rand multi_query mysql_query mysqli_multi_query mysqli_query "
    "mysqli_real_escape_string parse_str pg_query phpinfo preg_replace prepare print printf query quote rand "
    "readfile real_escape_string require require_once rtrim setcookie sha1 simplexml_load_file "
    "simplexml_load_string sprintf str_repeat str_replace strip_tags strtr substr urlencode var_dump vsprintf".split()
)
"""Functions and methods of PHP that rules name; PHP does not care for their case."""
