"""Inputs: files, and sets that are streamed by name. A source is divided into slices, which workers read in any order.

A reader has `slices()`, and `rows(slice)`, which yields pairs of a position and a raw row. `parse(row)` gives its
fields or raises BadRecord, `columns(fields)` the names of all fields, also of those that were not read, and
`locate(position)` names the file and the line.
"""
