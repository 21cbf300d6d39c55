"""The sandbox of chat templates: Jinja's, with the settings, filters and functions of Hugging Face's `transformers`.

Two things differ. Nothing depends on chance or on the day: `lipsum` and the filter `random` do not exist, and
`strftime_now` writes a given date. And only text is written: Python's spelling of a list, of an object or of null is no
text of anybody, so a template that writes one fails, except for parts of the tools, which are the template's to spell.
"""

import datetime
import json

from titan_prepare.errors import json_type
from titan_prepare.libraries import require

# Noncharacters of Unicode. They mark the bounds of a `generation` block until the text is complete.
BEGIN, END = "\ufdd0", "\ufdd1"
CHECK = "titan_text"  # the filter that refuses what is no text
# Filters that turn every value into a string first.
TEXT_FILTERS = frozenset((
    "trim", "upper", "lower", "replace", "title", "capitalize", "escape", "e", "forceescape", "center", "indent",
    "wordwrap", "truncate", "striptags", "urlize", "safe", "format", "wordcount", "pprint"))


class NotText(Exception):
    """A template writes a value that is no text."""


def make_environment(date: datetime.date | None):
    """`date` is what `strftime_now` writes; without one it is undefined."""
    ext = require("jinja2.ext")
    # Without optimization nothing of a template is computed before it is rendered, within the limits of a record.
    environment = sandbox_class()(trim_blocks=True, lstrip_blocks=True, finalize=output_check(), optimized=False,
                                  extensions=[generation_tag(), ext.loopcontrols])
    environment.titan_tools = frozenset()
    environment.filters |= {CHECK: text_check(), "tojson": to_json, "join": join_filter(), "string": string_filter()}
    del environment.filters["random"], environment.globals["lipsum"]
    environment.globals["raise_exception"] = refuse
    if date:
        at = datetime.datetime.combine(date, datetime.time())
        environment.globals["strftime_now"] = at.strftime
    return environment


def sandbox_class():
    sandbox, nodes = require("jinja2.sandbox"), require("jinja2.nodes")

    class Sandbox(sandbox.ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(("%",))

        def _parse(self, source, name, filename):
            """Checks the operands of `~` and of filters that turn every value into a string."""
            tree = super()._parse(source, name, filename)
            for node in list(tree.find_all((nodes.Concat, nodes.Filter))):
                if isinstance(node, nodes.Concat):
                    node.nodes = [self.checked(operand) for operand in node.nodes]
                elif node.name in TEXT_FILTERS and node.node is not None:
                    node.node = self.checked(node.node)
                    node.args = [self.checked(argument) for argument in node.args] if node.name == "format" else node.args
            return tree

        @staticmethod
        def checked(node):
            return nodes.Filter(node, CHECK, [], [], None, None).set_lineno(node.lineno)

        def call_binop(self, context, operator, left, right):
            if operator == "%" and isinstance(left, str):
                values = right.values() if isinstance(right, dict) else right if isinstance(right, tuple) else (right,)
                for value in values:
                    require_text(self, value)
            return super().call_binop(context, operator, left, right)

        def wrap_str_format(self, value):
            wrapped = super().wrap_str_format(value)
            if wrapped is None:
                return None

            def call(*args, **kwargs):
                for argument in (*args, *kwargs.values()):
                    require_text(self, argument)
                return wrapped(*args, **kwargs)
            return call

    return Sandbox


def is_text(environment, value) -> bool:
    """Texts and numbers, what is undefined, and parts of the tools."""
    return isinstance(value, (str, int, float, require("jinja2").Undefined)) or id(value) in environment.titan_tools


def require_text(environment, value):
    if not is_text(environment, value):
        raise NotText(f"it writes {json_type(value)} where a text must be")
    return value


def text_check():
    return require("jinja2").pass_environment(require_text)


def output_check():
    """For what `{{ }}` writes. It takes the context, so that Jinja cannot call it when it compiles a template."""
    @require("jinja2").pass_context
    def check(context, value):
        return require_text(context.environment, value)
    return check


def join_filter():
    jinja2, filters = require("jinja2"), require("jinja2.filters")

    @jinja2.pass_environment
    def join(environment, value, d="", attribute=None):
        items = value if attribute is None else map(filters.make_attrgetter(environment, attribute), value)
        return str(d).join(str(require_text(environment, item)) for item in items)
    return join


def string_filter():
    """A template that says `| string` asks for Python's spelling of null, but not of a message's parts."""
    @require("jinja2").pass_environment
    def string(environment, value):
        return value if isinstance(value, str) else str(value if value is None else require_text(environment, value))
    return string


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False) -> str:
    """A value as JSON, without the escapes for HTML of Jinja's own filter."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def refuse(message) -> None:
    raise require("jinja2.exceptions").TemplateError(str(message))


def generation_tag():
    """Jinja's extension for {% generation %}, which writes the body of the tag between BEGIN and END."""
    ext, nodes = require("jinja2.ext"), require("jinja2.nodes")

    class Generation(ext.Extension):
        tags = {"generation"}

        def __init__(self, environment):
            super().__init__(environment)
            environment.titan_tags_seen = set()

        def parse(self, parser):
            line = next(parser.stream).lineno
            self.environment.titan_tags_seen.add("generation")
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            mark = [nodes.Output([nodes.TemplateData(text)]).set_lineno(line) for text in (BEGIN, END)]
            return [mark[0], *body, mark[1]]

    return Generation
