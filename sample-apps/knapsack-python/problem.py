"""The problem, its reader and the reader of the options: anything wrong is an InputError with one sentence."""

import json
from dataclasses import dataclass
from typing import Dict, List, Tuple


class InputError(Exception):
    """The input or an option is wrong; the message names it, its value and what would be right."""


@dataclass(frozen=True)
class Item:
    id: str
    value: float
    uses: Tuple[float, ...]
    required: bool


@dataclass(frozen=True)
class Problem:
    """Resources and capacities run in parallel, and so does `uses` of every item."""

    resources: Tuple[str, ...]
    capacities: Tuple[float, ...]
    items: Tuple[Item, ...]

    def fits(self, used, resource: int) -> bool:
        """Sums of decimal fractions are a little off in binary; that little is forgiven."""
        capacity = self.capacities[resource]
        return used <= capacity + 1e-9 * max(1.0, capacity)


def _shown(value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _refuse(path: str, value, right: str):
    raise InputError(f"{path} is {_shown(value)}: it must be {right}")


def _object(value, path: str, known: Tuple[str, ...]) -> dict:
    if not isinstance(value, dict):
        _refuse(path, value, "an object")
    for name in value:
        if name not in known:
            raise InputError(f"{path} has the unknown field {_shown(name)}: it may have {', '.join(known)}")
    return value


def _amount(value, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e12:
        _refuse(path, value, "a number from 0 to 1e12")
    return value


def _text(value, path: str) -> str:
    if not isinstance(value, str) or value == "":
        _refuse(path, value, "a non-empty string")
    return value


def _member(raw: dict, name: str, path: str):
    if name not in raw:
        raise InputError(f'{path} has no "{name}": it must have one')
    return raw[name]


def read_problem(text: str) -> Problem:
    """Reads the text of standard input."""
    if not text.strip():
        raise InputError("standard input is empty: it must hold one JSON object")
    try:
        raw = json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError) as error:
        raise InputError(f"standard input is not JSON ({error}): it must hold one JSON object") from error
    raw = _object(raw, "the input", ("capacities", "items"))
    capacities: Dict[str, float] = _member(raw, "capacities", "the input")
    if not isinstance(capacities, dict) or not capacities:
        _refuse("capacities", capacities, "an object with at least one resource and its capacity")
    resources = tuple(capacities)
    entries = _member(raw, "items", "the input")
    if not isinstance(entries, list):
        _refuse("items", entries, "a list")
    items = tuple(_read_item(entry, f"items[{index}]", resources) for index, entry in enumerate(entries))
    seen: Dict[str, int] = {}
    for index, item in enumerate(items):
        if item.id in seen:
            first = f"items[{seen[item.id]}].id"
            raise InputError(f"items[{index}].id is {_shown(item.id)}, like {first}: it must be unique")
        seen[item.id] = index
    limits = tuple(_amount(capacities[name], f'capacities["{name}"]') for name in resources)
    return Problem(resources, limits, items)


def _read_item(value, path: str, resources: Tuple[str, ...]) -> Item:
    raw = _object(value, path, ("id", "value", "uses", "required"))
    uses = _object(_member(raw, "uses", path), f"{path}.uses", resources)
    required = raw.get("required", False)
    if not isinstance(required, bool):
        _refuse(f"{path}.required", required, "true or false")
    return Item(
        id=_text(_member(raw, "id", path), f"{path}.id"),
        value=_amount(_member(raw, "value", path), f"{path}.value"),
        uses=tuple(_amount(uses.get(name, 0), f'{path}.uses["{name}"]') for name in resources),
        required=required,
    )


OPTIONS = {
    # name: (default, lowest, highest, kind)
    "duration": (10.0, 0.1, 43200.0, float),
    "seed": (1, 0, 2**31, int),
    "search.share": (0.3, 0.0, 1.0, float),
}


def read_options(arguments: List[str]) -> dict:
    """Reads `-name value` pairs."""
    options = {name: default for name, (default, _, _, _) in OPTIONS.items()}
    for position in range(0, len(arguments), 2):
        name = arguments[position].lstrip("-")
        if not arguments[position].startswith("-") or name not in OPTIONS:
            known = ", ".join(f"-{option}" for option in OPTIONS)
            raise InputError(f"option {_shown(arguments[position])} is unknown: the options are {known}")
        if position + 1 == len(arguments):
            raise InputError(f"option -{name} has no value: it takes a number")
        options[name] = _option_value(name, arguments[position + 1])
    return options


def _option_value(name: str, text: str):
    _, lowest, highest, kind = OPTIONS[name]
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not lowest <= value <= highest:
        whole = "a whole number" if kind is int else "a number"
        raise InputError(f"option -{name} is {_shown(text)}: it must be {whole} from {lowest:g} to {highest:g}")
    return value
