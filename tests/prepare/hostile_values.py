"""Changes single values of valid JSON, so that the syntax and checksums of a file stay right."""

import random


def nested(depth: int) -> list:
    value = []
    for _ in range(depth):
        value = [value]
    return value


VALUES = (None, True, False, -1, 0, 1, 0.5, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**70, 1e308, -1e308, "", "x", "\ud800",
          "\0", "../x", "/etc/passwd", "9" * 5000, "x" * 100_000, [], {}, [[]], {"": {}}, [None], nested(300))


def places(value, path=()):
    """The paths of all values in a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def change_value(value, draw: random.Random, keys: tuple[str, ...] = ("", "\ud800", "x")):
    """A copy with one value replaced or removed, or one key renamed."""
    path = draw.choice(list(places(value)))
    return changed_at(value, path, draw, keys)


def changed_at(value, path: tuple, draw: random.Random, keys: tuple[str, ...]):
    if not path:
        return draw.choice(VALUES)
    copy = dict(value) if isinstance(value, dict) else list(value)
    key = path[0]
    if len(path) > 1 or draw.random() < 0.6:
        copy[key] = changed_at(copy[key], path[1:], draw, keys)
    elif isinstance(copy, dict) and draw.random() < 0.6:
        copy[draw.choice(keys)] = copy.pop(key)
    elif isinstance(copy, list) and draw.random() < 0.6:
        copy[key] = draw.choice(keys)
    else:
        del copy[key]
    return copy
