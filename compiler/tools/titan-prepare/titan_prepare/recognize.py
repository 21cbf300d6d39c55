"""Finds the form of the records from the first of them."""

from itertools import islice

from titan_prepare.errors import BadRecord, UserError, printable
from titan_prepare.forms import Form, Wanted, ambiguous, refuse_labels
from titan_prepare.inputs.sources import Source
from titan_prepare.inputs.streams import Stream
from titan_prepare.inputs.units import Inputs

RECORDS, BYTES = 100, 1 << 20  # that are read at most


def recognize(wanted: Wanted, sources: tuple[Source | Stream, ...], most_bytes: int) -> Form:
    """The form of the first record that has one. Workers then require it of every record. Without such a record the form
    is the default, whose reader says what is wrong."""
    inputs = Inputs(sources, None, False, most_bytes=most_bytes)
    texts = [source for source in sources if isinstance(source, Source) and source.format == "text"]
    others = [source for source in sources if source not in texts]
    form = next((found for source in others if (found := form_in(wanted, inputs.reader(source)))), wanted.default())
    if texts and others and form.name != "text":
        raise UserError(f"'{texts[0].path}' is a text, and the records of the other inputs are {form.describe()}; prepare "
                        "them apart")
    return form


def form_in(wanted: Wanted, reader) -> Form | None:
    slices = reader.slices(BYTES)
    for at, row in islice(reader.rows(*slices[0][:2]), RECORDS) if slices else ():
        try:
            record = reader.parse(row)
        except BadRecord:
            continue
        found = wanted.forms_of(record)
        if len(found) > 1:
            raise UserError(printable(f"{reader.locate(at)}: {ambiguous(found)}"))
        if found:
            try:
                refuse_labels(found[0], record)
            except BadRecord as error:
                raise UserError(f"{reader.locate(at)}: {error}") from error
            return found[0]
    return None
