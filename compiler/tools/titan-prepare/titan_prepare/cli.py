"""The command line of titan-prepare."""

import argparse
import datetime
import json
import os
import sys
import time
from pathlib import Path

from titan_prepare.arrays import write_arrays
from titan_prepare.errors import UserError, printable
from titan_prepare.files import read_text
from titan_prepare.inputs.sources import FORMATS, absolute_prefix, format_of
from titan_prepare.inputs.streams import Stream
from titan_prepare.limits import RecordLimits
from titan_prepare.prepare import Outcome, prepare
from titan_prepare.progress import spell_seconds
from titan_prepare.request import Content, Request
from titan_prepare.tokenizers.opening import TokenizerFile, tokenizer_file

USAGE = """titan-prepare INPUT... --tokenizer PATH -o PREFIX [OPTION...]
       titan-prepare --dataset NAME --tokenizer PATH -o PREFIX [OPTION...]
       titan-prepare --arrays INPUT... [--columns NAME,...] -o FOLDER"""
DESCRIPTION = """\
Turns texts, prompts with answers, or chats into the token files that Titan's programs read:
PREFIX.bin (tokens), PREFIX.idx (documents), PREFIX.weights.bin (which tokens count in the loss; for answers and
chats) and PREFIX.json (what was prepared). The same command again does nothing if all is up to date, and continues
where it was interrupted."""
EXAMPLES = """\
examples:
  titan-prepare corpus.jsonl --tokenizer ./Llama-3.2-1B -o data/corpus
  titan-prepare 'shards/*.parquet' --field content --tokenizer tokenizer.json -o data/code --workers 8
  titan-prepare --dataset allenai/c4 --config en --split train --max-documents 1000000 --tokenizer ./Model -o data/c4
  titan-prepare chats.jsonl --messages messages --tokenizer ./Model-Instruct -o data/chats --max-length 4097
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
    endings = "; ".join(f"{name}: {' '.join(endings)}" for name, endings in FORMATS.items())
    group.add_argument("--format", choices=("auto", *FORMATS), default="auto",
                       help=f"of all files; auto (the default): by file name extension ({endings})")
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
    group.add_argument("--field", help="the field or column with the text (default: text)")
    group.add_argument("--prompt", metavar="FIELD", help="the prompt of a pair; only its answer counts in the loss")
    group.add_argument("--answer", metavar="FIELD", help="the answer of a pair")
    group.add_argument("--messages", metavar="FIELD",
                       help="a chat, a list of objects with `role` and `content`; only answers count in the loss")
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
                            "compressed files and shards of data sets are one unit")


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
            text_lines=options.text_documents == "line", tokenizer=tokenizer,
            content=content_of(parser, options, tokenizer), bos=options.bos, eos=options.eos,
            vocabulary=options.vocabulary, length=options.max_length, overlong=options.overlong or "refuse",
            skip_bad=options.skip_bad, most=options.max_documents, prefix=absolute_prefix(options.output),
            force=options.force, workers=options.workers, chunk=options.chunk_bytes,
            record=RecordLimits(options.record_bytes, options.record_seconds))
    except UserError as error:
        sys.exit(complain(str(error)))


def check_usage(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuses options that contradict one another or have no effect."""
    pairs, template = options.prompt or options.answer, options.messages or options.as_chat
    for wrong, message in (
            (bool(options.inputs) == bool(options.dataset), "give either INPUTs or --dataset"),
            (not options.tokenizer, "--tokenizer is missing: a directory, a file, or `bytes`"),
            (options.columns, "--columns requires --arrays"),
            (not options.dataset and (options.config or options.split or options.revision),
             "--config, --split and --revision require --dataset"),
            (options.dataset and options.format != "auto", "--format applies to files, not to a --dataset"),
            (bool(options.prompt) != bool(options.answer), "--prompt requires --answer, and the reverse"),
            (bool(options.field) + bool(pairs) + bool(options.messages) > 1,
             "only one of --field, --prompt with --answer, and --messages is possible"),
            (options.as_chat and not pairs, "--as-chat is for --prompt with --answer"),
            (not template and (options.chat_template or options.template_variable or options.date),
             "--chat-template, --template-variable and --date are for --messages and --as-chat"),
            (options.tools and not options.messages, "--tools is for --messages"),
            (template and options.special == "text", "chat templates write special tokens; --special text would make "
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


def content_of(parser: argparse.ArgumentParser, options: argparse.Namespace, tokenizer: TokenizerFile) -> Content:
    templates, variables = {}, ()
    if options.messages or options.as_chat:
        templates = templates_of(options, tokenizer)
        named = {**tokenizer.configuration().special_tokens(), **variables_of(parser, options.template_variable)}
        variables = tuple(sorted(named.items()))
    whole = None if options.prompt or options.messages else options.field or "text"
    return Content(whole, options.prompt, options.answer, options.messages, templates.get("default"), variables,
                   options.invalid_unicode == "replace", options.tools, templates.get("tool_use"), options.date)


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
