"""Small models of every imported family, in odd shapes: each module has CASES, by name."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import transformers

transformers.logging.set_verbosity_error()  # of special tokens beyond small vocabularies


@dataclass(frozen=True)
class Case:
    """A configuration of `transformers`, where its defaults for the tests do not hold."""

    config: object
    updated: str = ""  # buffers that Titan's model updates in a step and that of transformers does not
    generates: bool = True  # its text equals that of transformers
    decodes: bool = True  # it has programs with caches
    part: bool = False  # the model of texts in a larger model
    base: bool = False  # its file has no head
    published: Callable[[dict], dict] | None = None  # the form of published configurations, from the one that is saved


def all_cases() -> dict[str, Case]:
    cases = {}
    for module in pkgutil.iter_modules(__path__):
        for name, case in importlib.import_module(f"{__name__}.{module.name}").CASES.items():
            assert name not in cases, f"two cases are called {name}"
            cases[name] = case if isinstance(case, Case) else Case(case)
    return cases
