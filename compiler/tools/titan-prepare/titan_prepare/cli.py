"""The command line of titan-prepare."""

import argparse
import datetime
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

from titan_prepare.arrays import write_arrays
from titan_prepare.chat.turns import APART, TOGETHER
from titan_prepare.content import Content
from titan_prepare.errors import UserError, printable
from titan_prepare.files import read_text
from titan_prepare.forms import SHAPES, Form, Wanted
from titan_prepare.inputs.sources import FORMATS, TEXT_FORMATS, absolute_prefix, format_of
from titan_prepare.inputs.streams import Stream
from titan_prepare.limits import RecordLimits
from titan_prepare.prepare import Outcome, prepare
from titan_prepare.progress import spell_seconds
from titan_prepare.request import Request
from titan_prepare.tokenizers.opening import TokenizerFile, tokenizer_file

USAGE = """titan-prepare INPUT... --tokenizer PATH -o PREFIX [OPTION...]
       titan-prepare --dataset NAME --tokenizer PATH -o PREFIX [OPTION...]
       titan-prepare --arrays INPUT... [--columns NAME,...] -o FOLDER"""
DESCRIPTION = """\
Turns texts, prompts with answers, chats, or preference pairs into the token files that Titan's programs read:
PREFIX.bin (tokens), PREFIX.idx (documents), PREFIX.weights.bin (which tokens count in the loss; for answers and
chats) and PREFIX.json (what was prepared); preference pairs become PREFIX.safetensors. The fields of the first record
say which of these it is, unless an option does. The same command again does nothing if all is up to date, and continues
where it was interrupted."""
EXAMPLES = """\
examples:
  titan-prepare corpus.jsonl --tokenizer ./Llama-3.2-1B -o data/corpus
  titan-prepare 'shards/*.parquet' --field content --tokenizer tokenizer.json -o data/code --workers 8
  titan-prepare --dataset allenai/c4 --config en --split train --max-documents 1000000 --tokenizer ./Model -o data/c4
  titan-prepare chats.jsonl --tokenizer ./Model-Instruct -o data/chats --max-length 4097 --overlong truncate
  titan-prepare preferences.jsonl --tokenizer ./Model-Instruct -o data/pairs --max-length 1025 --overlong skip
  titan-prepare qa.jsonl --prompt question --answer answer --tokenizer bytes -o data/qa

  titan-prepare --arrays train-*.parquet --columns image,label -o data/digits

  ./program --data data/corpus --set data.format=indexed

exit status: 0 prepared, or up to date; 1 an error in the inputs or the machine; 2 wrong usage.
The formats are described in docs/data.md."""


def main(arguments: list[str] | None = None) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files may have what is no character
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.arrays:
        return make_arrays(parser, options)
    request = read_request(parser, options)
    started = time.monotonic()
    try:
        outcome = prepare(request)
    except UserError as error:
        return complain(str(error))
    except OSError as error:
        return complain(f"{error.filename or request.prefix}: {error.strerror or error}")
    except MemoryError:
        return complain("not enough memory; fewer --workers need less")
    except KeyboardInterrupt:
        return complain("interrupted; the same command continues")
    print_outcome(outcome, request, time.monotonic() - started)
    return 0


def make_arrays(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    used = ("inputs", "arrays", "columns", "output", "force")
    for action in parser._actions:
        if action.dest not in (*used, "help") and getattr(options, action.dest) != action.default:
            parser.error(f"{action.option_strings[0]} has no effect with --arrays")
    if not options.inputs:
        parser.error("give INPUTs")
    try:
        columns = options.columns.split(",") if options.columns else []
        written = write_arrays(options.inputs, columns, Path(options.output), options.force)
    except UserError as error:
        return complain(str(error))
    except OSError as error:
        return complain(f"{error.filename or options.output}: {error.strerror or error}")
    except MemoryError:
        return complain(f"{', '.join(options.inputs)}: not enough memory")
    print(f"{options.output}: {', '.join(map(str, written))}")
    return 0


def complain(message: str) -> int:
    """Prints an error; returns the exit status."""
    print(f"error: {printable(message)}", file=sys.stderr)
    return 1


def print_outcome(outcome: Outcome, request: Request, seconds: float) -> None:
    sidecar = outcome.sidecar
    how = f"in {spell_seconds(seconds)}" if outcome.made else "up to date"
    content = outcome.content
    if content.form and content.form.name != "text" and not content.wanted.fields:
        counts = "all tokens count" if content.loss_on_all else "answers count"
        print(f"records: {content.form.describe()}; {counts} in the loss")
    print(f"{request.prefix}: {sidecar.summary()}, {how}")
    if left_out := sidecar.left_out():
        print(f"left out: {left_out}")
    for location in sidecar.values["bad_records"]:
        print(f"bad: {location}")
    for note in (*sidecar.remarks(), *outcome.notes):
        print(f"note: {note}", file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="titan-prepare", usage=USAGE, description=DESCRIPTION, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="a file, a directory, or a quoted glob with ** ")
    add_input_options(parser.add_argument_group("inputs"))
    add_array_options(parser.add_argument_group("arrays, instead of tokens"))
    add_content_options(parser.add_argument_group("documents"))
    add_token_options(parser.add_argument_group("tokens"))
    add_output_options(parser.add_argument_group("output and work"))
    return parser


def add_input_options(group) -> None:
    endings = "; ".join(f"{name}: {' '.join(endings)}" for name, endings in (*TEXT_FORMATS.items(), ("parquet", (".parquet",))))
    group.add_argument("--format", choices=("auto", *FORMATS), default="auto",
                       help=f"of all files; auto (the default): by file name extension ({endings}; all but the last also with .gz or .zst)")
    group.add_argument("--dataset", metavar="NAME",
                       help="a data set of the Hugging Face hub, or such a directory, read by `datasets`")
    group.add_argument("--config", help="the configuration of the data set")
    group.add_argument("--split", help="the split of the data set (default: train)")
    group.add_argument("--revision", help="a branch, tag or commit of the data set (default: its newest commit)")
    group.add_argument("--text-documents", choices=("file", "line"),
                       help="the unit of a document in a text file (default: file)")
    group.add_argument("--skip-bad", action="store_true",
                       help="skip and count bad records, instead of ending at the first")
    group.add_argument("--record-bytes", type=positive, default=RecordLimits.bytes, metavar="N",
                       help="a record with more bytes is bad (default: 64 MiB); does not apply to files that are one document")
    group.add_argument("--record-seconds", type=positive, default=RecordLimits.seconds, metavar="N",
                       help="a record whose chat template takes longer is bad (default: 60)")
    group.add_argument("--invalid-unicode", choices=("refuse", "replace"), default="refuse",
                       help="a record with broken UTF-8 is bad (refuse, the default), or gets U+FFFD there (replace)")


def add_array_options(group) -> None:
    group.add_argument("--arrays", action="store_true",
                       help="write NAME.npy for each array of .npz files, or each column of .parquet and .arrow files")
    group.add_argument("--columns", metavar="NAME,...", help="these arrays only (default: those of the first input)")


def add_content_options(group) -> None:
    group.add_argument("--form", choices=tuple(SHAPES),
                       help="the form of the records (default: that of the first record, by its fields)")
    group.add_argument("--field", help="the field or column with the text (default: text)")
    group.add_argument("--prompt", metavar="FIELD",
                       help="the prompt of a pair; only its answer counts in the loss (default: prompt)")
    group.add_argument("--answer", metavar="FIELD", help="the answer of a pair (default: completion)")
    group.add_argument("--chosen", metavar="FIELD", help="the preferred answer of a preference pair (default: chosen)")
    group.add_argument("--rejected", metavar="FIELD", help="the other answer of it (default: rejected)")
    group.add_argument("--messages", metavar="FIELD",
                       help="a chat, a list of objects with `role` and `content`, or `from` and `value`; only answers count in "
                            "the loss (default: messages or conversations)")
    group.add_argument("--loss", choices=("answers", "all"),
                       help="what counts in the loss: answers (the default for chats and pairs), or all tokens")
    group.add_argument("--turns", choices=(TOGETHER, APART),
                       help="answers of a chat in one document, or each in a document of its own (default: together, "
                            "except where the template rewrites earlier answers)")
    group.add_argument("--tools", metavar="FIELD",
                       help="the tools of a chat, a list of objects for the chat template (default: tools, where it is)")
    group.add_argument("--as-chat", action="store_true", help="format pairs with the chat template")
    group.add_argument("--chat-template", metavar="FILE", help="a chat template instead of the tokenizer's own")
    group.add_argument("--template-variable", metavar="NAME=JSON", action="append", default=[],
                       help="a variable for the chat template (repeatable), e.g. enable_thinking=false")
    group.add_argument("--date", type=date, metavar="YYYY-MM-DD",
                       help="the date of today for the chat template (default: the template's own, or 2024-07-26)")


def add_token_options(group) -> None:
    group.add_argument("--tokenizer", metavar="PATH",
                       help="a directory with tokenizer.json or tokenizer.model, one of these files, or `bytes`")
    for name, where in (("bos", "before"), ("eos", "after")):
        group.add_argument(f"--{name}", default="auto", metavar="TOKEN",
                           help=f"the token {where} each document, by text or number; `none`; or `auto` (the default): "
                                "the choice of the tokenizer, and none with a chat template, which writes it")
    group.add_argument("--special", choices=("parse", "text"), default="parse",
                       help="special tokens in texts: tokens, as in transformers (parse, the default), or ordinary text")
    group.add_argument("--vocabulary", type=positive, metavar="N",
                       help="the vocabulary of the model; larger tokens are errors (default: the tokenizer's)")
    group.add_argument("--max-length", type=positive, metavar="N", help="the most tokens of a document")
    group.add_argument("--overlong", choices=("refuse", "truncate", "skip"),
                       help="treatment of longer documents (default: refuse)")


def add_output_options(group) -> None:
    group.add_argument("-o", "--output", required=True, metavar="PREFIX",
                       help="prefix of the output files; with --arrays their folder")
    group.add_argument("--force", action="store_true", help="replace what was prepared from other inputs or options")
    group.add_argument("--max-documents", type=positive, metavar="N", help="end after the first N documents")
    group.add_argument("--workers", type=positive, default=len(os.sched_getaffinity(0)), metavar="N",
                       help="processes (default: one for each core); the output does not depend on it")
    group.add_argument("--chunk-bytes", type=positive, default=16 << 20, metavar="N",
                       help="size of the input units of a worker, and the most that a crash loses (default: 16 MiB); "
                            "compressed files, arrays of JSON, tables and shards of data sets are one unit")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a date as 2024-07-26") from error


def read_request(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Request:
    check_usage(parser, options)
    try:
        tokenizer = tokenizer_file(options.tokenizer, options.special == "parse")
        return Request(
            paths=tuple(options.inputs), format=options.format, stream=stream_of(options),
            text_lines=options.text_documents == "line", tokenizer=tokenizer, form=form_of(options),
            make_content=partial(content_of, options, tokenizer, variables_of(parser, options.template_variable)), bos=options.bos, eos=options.eos,
            vocabulary=options.vocabulary, length=options.max_length, overlong=options.overlong or "refuse",
            skip_bad=options.skip_bad, most=options.max_documents, prefix=absolute_prefix(options.output),
            force=options.force, workers=options.workers, chunk=options.chunk_bytes,
            record=RecordLimits(options.record_bytes, options.record_seconds))
    except UserError as error:
        sys.exit(complain(str(error)))


def check_usage(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuses options that contradict one another or have no effect."""
    pairs = options.prompt or options.answer
    preferences = options.chosen or options.rejected
    forms = [name for name, given in (("text", options.field), ("pairs", options.answer), ("chats", options.messages),
                                      ("preferences", preferences)) if given]
    no_template = bool(options.field) or options.form == "text"
    for wrong, message in (
            (bool(options.inputs) == bool(options.dataset), "give either INPUTs or --dataset"),
            (not options.tokenizer, "--tokenizer is missing: a directory, a file, or `bytes`"),
            (options.columns, "--columns requires --arrays"),
            (not options.dataset and (options.config or options.split or options.revision),
             "--config, --split and --revision require --dataset"),
            (options.dataset and options.format != "auto", "--format applies to files, not to a --dataset"),
            (bool(options.prompt) != bool(options.answer) and not preferences and options.form not in (
                "pairs", "alpaca", "preferences"), "--prompt requires --answer, and the reverse"),
            (bool(options.chosen) != bool(options.rejected), "--chosen requires --rejected, and the reverse"),
            (len(forms) > 1 or (options.field and pairs) or (options.messages and pairs),
             "only one of --field, --prompt with --answer, --messages, and --chosen with --rejected is possible"),
            (options.form and forms and options.form not in (*forms, *(["alpaca"] if forms == ["pairs"] else [])),
             f"--form {options.form} does not have the fields that are named"),
            (options.as_chat and (no_template or options.messages), "--as-chat is for prompts with answers"),
            (no_template and (options.chat_template or options.template_variable or options.date or options.tools),
             "--chat-template, --template-variable, --date and --tools are for chats"),
            (no_template and (options.loss or options.turns), "--loss and --turns are for chats and pairs"),
            (options.turns and options.loss == "all", "--turns has no effect with --loss all"),
            (options.loss == "all" and (preferences or options.form == "preferences"),
             "of preference pairs only the answers count; --loss all is not possible"),
            ((options.messages or options.as_chat) and options.special == "text", "chat templates write special tokens; --special text would make "
                                                     "them ordinary text"),
            (options.overlong and not options.max_length, "--overlong needs --max-length"),
            (options.tokenizer == "bytes" and options.special == "text", "bytes have no special tokens"),
            (options.text_documents and not may_have_texts(options), "--text-documents is for text files")):
        if wrong:
            parser.error(message)


def may_have_texts(options: argparse.Namespace) -> bool:
    """False if no input can be a text file."""
    if options.dataset or options.format not in ("auto", "text"):
        return False
    return options.format == "text" or any(format_of(path) in (None, "text") for path in options.inputs)


def stream_of(options: argparse.Namespace) -> Stream | None:
    if not options.dataset:
        return None
    return Stream(options.dataset, options.config, options.split or "train", options.revision)


def form_of(options: argparse.Namespace) -> Form | Wanted:
    """The form, if options say it without a record, and else those that are possible."""
    named = {role: name for role, name in (
        ("text", options.field), ("messages", options.messages), ("prompt", options.prompt), ("answer", options.answer),
        ("chosen", options.chosen), ("rejected", options.rejected)) if name}
    if options.field:
        return Form("text", (("text", options.field),))
    if options.messages:
        return Form("chats", (("messages", options.messages),), True)
    if options.form:
        names = (options.form,)
    elif options.chosen:
        names = ("preferences",)
    elif options.answer:
        names = ("pairs",)
    else:
        names = ("pairs", "alpaca", "preferences") if options.as_chat else tuple(SHAPES)
    return Wanted(names, tuple(named.items()))


def content_of(options: argparse.Namespace, tokenizer: TokenizerFile, variables: dict, form: Form,
               wanted: Wanted | None) -> Content:
    """`wanted` is what the form was found with, by the first record."""
    templates, named = {}, ()
    if form.of_messages or options.as_chat:
        templates = templates_of(options, tokenizer)
        named = tuple(sorted({**tokenizer.configuration().special_tokens(), **variables}.items()))
    refuse_idle(options, form, bool(templates))
    optional = wanted.optional(form.name) if wanted else {}
    return Content(
        form.field("text"), form.field("prompt") or optional.get("prompt"), form.field("answer"), form.field("messages"),
        templates.get("default"), named, options.invalid_unicode == "replace", options.tools, templates.get("tool_use"),
        options.date, optional.get("context"), form.field("chosen"), form.field("rejected"),
        form.of_messages and form.name != "chats", options.loss == "all", options.turns,
        form if wanted else None, wanted or Wanted())


def refuse_idle(options: argparse.Namespace, form: Form, has_template: bool) -> None:
    """Options that have no effect on the form of the records."""
    beside = [f"--{name.replace('_', '-')}" for name in ("chat_template", "template_variable", "date", "tools", "turns")
              if getattr(options, name) and not has_template]
    beside += ["--loss"] if options.loss and form.name == "text" else []
    if beside:
        raise UserError(f"the records are {form.describe()}, for which {', '.join(beside)} "
                        f"{'have' if len(beside) > 1 else 'has'} no effect")
    if form.name == "preferences" and options.loss == "all":
        raise UserError("of preference pairs only the answers count; --loss all is not possible")
    if has_template and options.special == "text":
        raise UserError("chat templates write special tokens; --special text would make them ordinary text")


def templates_of(options: argparse.Namespace, tokenizer: TokenizerFile) -> dict[str, str]:
    """By name: `default`, and perhaps `tool_use`, that of chats with tools."""
    if options.chat_template:
        return {"default": read_text(Path(options.chat_template))}
    templates = tokenizer.configuration().chat_templates()
    if "default" not in templates:
        raise UserError(f"there is no chat template next to '{options.tokenizer}'; pass --chat-template FILE")
    return templates


def variables_of(parser: argparse.ArgumentParser, arguments: list[str]) -> dict:
    variables = {}
    for argument in arguments:
        name, _, value = argument.partition("=")
        try:
            variables[name] = json.loads(value)
        except ValueError:
            parser.error(f"--template-variable {argument}: the value is not JSON (a string needs quotes: "
                         f"{name}='\"{value}\"')")
    return variables
