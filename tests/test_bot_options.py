"""Settings in a bot's name."""

from dataclasses import dataclass

import pytest

from baselines.bots.options import settings_from


@dataclass(frozen=True)
class Settings:
    worlds: int = 64
    playout: str = "greedy"
    milliseconds: float | None = None
    exact: bool = True


def test_values_take_the_type_of_the_default() -> None:
    text = "worlds=8, playout=random,milliseconds=1.5,exact=false"
    assert settings_from("pimc", text, Settings) == Settings(8, "random", 1.5, False)
    assert settings_from("pimc", None, Settings) == Settings()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("world=8", "worlds=64"),
        ("worlds", "got 'worlds'"),
        ("worlds=many", "worlds: expected an integer, got 'many'"),
        ("milliseconds=soon", "milliseconds: expected a number"),
        ("exact=1", "exact: expected true or false"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        settings_from("pimc", text, Settings)
