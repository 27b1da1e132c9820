"""What follows the colon in a bot's name: ``pimc:worlds=64,playout=greedy``."""

from __future__ import annotations

from typing import Any, TypeVar

Settings = TypeVar("Settings")


def settings_from(bot: str, text: str | None, kind: type[Settings]) -> Settings:
    """Settings of a bot from the text after its name.

    Args:
        bot: The bot's name, for messages.
        text: ``key=value`` pairs separated by commas, or None.
        kind: A dataclass whose fields all have defaults; a value takes the type of its field's default (``float`` where
            that is None). It checks its own ranges.

    Raises:
        ValueError: An unknown key, or a value of another type; the message lists the keys.
    """
    defaults = vars(kind())
    values: dict[str, Any] = {}
    for pair in (text or "").split(","):
        if not pair.strip():
            continue
        key, equals, value = (part.strip() for part in pair.partition("="))
        if key not in defaults or not equals:
            known = ", ".join(f"{name}={default}" for name, default in defaults.items())
            raise ValueError(f"bot {bot!r}: expected key=value with one of {known}; got {pair!r}")
        values[key] = _value(bot, key, value, defaults[key])
    return kind(**values)


def _value(bot: str, key: str, value: str, default: Any) -> Any:
    """``value`` in the type of ``default``."""
    if isinstance(default, str):
        return value
    if isinstance(default, bool):
        if value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise ValueError(f"bot {bot!r}: {key}: expected true or false, got {value!r}")
    kind = int if isinstance(default, int) else float
    try:
        return kind(value)
    except ValueError:
        number = "an integer" if kind is int else "a number"
        raise ValueError(f"bot {bot!r}: {key}: expected {number}, got {value!r}") from None
