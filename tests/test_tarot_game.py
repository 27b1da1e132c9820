"""Tarot's options, custom deals, texts, rewards and layout; and recorded deals through every interface."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tarot_env
from tarot_env.cards import CARD_NAMES, card_id, card_set, cards_in
from tarot_env.contracts import contract_number
from tarot_env.game import DEAL_FORMAT, GAME, setup
from tarot_env.render import has_taken_chien
from tests.helpers import fewer
from tests.reference.tarot import DECK, KINGS, OUDLERS, Deal, random_deal, random_playout
from tests.tarot_engines import cards, table
from tests.tarot_table import PHASES, TarotTable, same_table
from trick_core.belief import view_of
from trick_core.drivers import make_buffers, random_drivers
from trick_core.game import setup_for
from trick_core.records import Record, to_record
from trick_core.records import Table as RecordTable

CASES_FILE = Path(__file__).parent / "cases" / "tarot.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]


def custom(case: dict[str, Any]) -> dict[str, Any]:
    return {"deal": {"hands": case["hands"], "chien": case["chien"]}, "dealer": case["dealer"]}


# ---------------------------------------------------------------------------- cards and texts


def test_cards_and_ids() -> None:
    assert [card_id(name) for name in CARD_NAMES] == list(range(78))
    assert [card_id(number) for number in range(78)] == list(range(78))
    assert card_id(" nh ") == card_id("NH") == 14 * 2 + 11
    assert cards_in(*card_set(["T1", "EX", "KS"])) == ["KS", "EX", "T1"]


@pytest.mark.parametrize("card", ["T0", "T22", "1C", "KX", "", 78, -1, True, 1.0, None])
def test_what_is_no_card(card: Any) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        card_id(card)


def test_deal_text_round_trip() -> None:
    """The text of a deal, at its start or later, is the deal that was given."""
    rng = random.Random(1)
    for contract in ("garde", "garde_contre"):
        deal = random_deal(rng, taker=2, contract=contract)
        kernel = same_table(deal)
        text = GAME.deal_text(kernel.states, 0)
        for _ in range(60):
            assert GAME.deal_text(kernel.states, 0) == text
            if kernel.over:
                break
            kernel.force(rng.choice(kernel.legal()))
        hands = DEAL_FORMAT.read(text)
        assert [[CARD_NAMES[c] for c in hand] for hand in hands] == [*deal.dealt, deal.chien]
        again = TarotTable(
            setup(start="discard", taker=2, contract=contract), deal=text, dealer=deal.dealer
        )
        assert again.words(0) == same_table(deal).words(0)


def test_a_deal_reads_as_in_the_documentation() -> None:
    """Holdings S.H.D.C, then trumps between commas; the chien last; any of N E S W in front."""
    deal = table("KS QS 4S NH TH AD 9C 8C 5C T21 T17 T4 EX")
    text = GAME.deal_text(same_table(deal).states, 0)
    first = text.removeprefix("N:").split()[0]
    assert first.startswith("KQ") and first.endswith(",EX") and ".NT" in first
    assert len(text.split()) == 5
    turned = TarotTable(setup(), deal="E" + text[1:])
    assert turned.hand(1) == same_table(deal).hand(0)
    spelled = text.replace("21,17", "T21,T17")
    assert TarotTable(setup(), deal=spelled, dealer=3).words(0) == same_table(deal).words(0)


def hands_of(deal: Deal) -> list[list[str]]:
    return [list(hand) for hand in deal.dealt]


def broken_deals() -> list[tuple[Any, str]]:
    deal = table()
    hands, chien = hands_of(deal), list(deal.chien)
    doubled = hands_of(deal)
    doubled[1][0] = doubled[0][0]
    short = hands_of(deal)
    short[2].pop()
    text = GAME.deal_text(same_table(deal).states, 0)
    return [
        ({"hands": doubled, "chien": chien}, f"{doubled[0][0]} is in hand of seat 0 and in hand"),
        ({"hands": short, "chien": chien}, "hand of seat 2: expected 18 cards, got 17"),
        ({"hands": hands, "chien": chien[:5]}, "chien: expected 6 cards, got 5"),
        ({"hands": hands[:3], "chien": chien}, "hands: expected 4, got 3"),
        ({"hands": hands}, "expected the keys 'hands' and 'chien', got 'hands'"),
        ({}, "got none"),
        ({"hands": "AC", "chien": chien}, "four lists"),
        ({"hands": 5, "chien": chien}, "four lists"),
        ({"hands": [*hands[:3], "AC"], "chien": chien}, "expected a list of cards"),
        ({"hands": hands, "chien": [*chien[:5], "T22"]}, "chien: 'T22' is not a card"),
        (hands, "expected 5 hands, got 4"),
        (7, "expected a text or lists"),
        (text.rsplit(" ", 1)[0], "expected 5 hands"),
        (text.replace("21", "22"), "'22' is not"),
        ("X" + text[1:], "deal"),
    ]


@pytest.mark.parametrize(("deal", "message"), broken_deals())
def test_bad_deals_say_what_is_wrong(deal: Any, message: str) -> None:
    """A50: missing, doubled, wrong count, wrong shape."""
    with pytest.raises(ValueError, match=message):
        GAME.reset_config(setup(), {"deal": deal})


# ---------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dealer": 4}, "dealer"),
        ({"dealer": "south"}, "dealer"),
        ({"forbid_pass": 1}, "forbid_pass"),
        ({"start": "middle"}, "start.*'bid', 'discard', 'play'"),
        ({"taker": 1}, "taker: only with start"),
        ({"contract": "garde"}, "contract: only with start"),
        ({"start": "play", "taker": -1}, "taker"),
        ({"start": "play", "contract": "petite"}, "expected one of prise, garde"),
        ({"start": "play", "contract": 3}, "expected one of prise, garde"),
        ({"reward": "points "}, "reward"),
        ({"illegal_action": "ignore"}, "illegal_action"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        setup(**options)


def test_unknown_option() -> None:
    with pytest.raises(TypeError, match="early_stop"):
        setup(early_stop=True)
    with pytest.raises(TypeError, match="early_stop"):
        tarot_env.env(early_stop=True)


def test_options_are_recorded_and_make_the_same_setup() -> None:
    """What a record holds makes the same configuration; names may be written with hyphens."""
    options = {"dealer": 2, "start": "play", "taker": 1, "contract": "garde-sans", "zero_sum": True}
    one = setup(**options)
    two = setup(**json.loads(json.dumps(one.options)))
    assert one.options == two.options and one.options["contract"] == "garde_sans"
    assert one.config.tobytes() == two.config.tobytes()
    assert one.id == "tarot/deal-v0" and one.name == "tarot_deal_v0"
    assert one.changed(taker=3).options["taker"] == 3
    assert contract_number("garde-contre") == 4


def test_largest_return_bounds_what_can_happen() -> None:
    """T-7.1 to T-7.5 at their worst: nothing scored at x6, the Petit, a poignée, chelem announced and swept."""
    assert setup().largest_return == 3 * (6 * (25 + 56 + 10) + 40 + 400) == 2958
    assert setup(start="play", contract="prise").largest_return == 3 * (25 + 56 + 10 + 440)
    assert setup().illegal_reward == -2958
    worst = max(abs(total) for case in CASES for total in case["score"]["totals"])
    assert worst <= 2958


def test_dealer_option_and_seed() -> None:
    """None: every seat deals about equally often, the same for the same seed."""
    assert {TarotTable(setup(dealer=2), number=n).field("dealer") for n in range(20)} == {2}
    drawn = [TarotTable(setup(), seed=9, number=n).field("dealer") for n in range(fewer(400, 40))]
    counts = np.bincount(drawn, minlength=4)
    assert counts.min() > len(drawn) / 8
    again = [TarotTable(setup(), seed=9, number=n).field("dealer") for n in range(fewer(400, 40))]
    assert drawn == again


def test_reset_dealer_overrides_the_option() -> None:
    assert TarotTable(setup(dealer=2), dealer=1).field("dealer") == 1
    assert TarotTable(setup(dealer=2), dealer=None).field("dealer") == 2


def test_same_seed_same_deal_other_number_another() -> None:
    one, two, other = (TarotTable(setup(), seed=3, number=n) for n in (5, 5, 6))
    assert one.states.tobytes() == two.states.tobytes() != other.states.tobytes()


def test_a_custom_deal_keeps_the_seeds_dealer() -> None:
    """A deal without a dealer: the dealer comes from the seed, as without the deal."""
    deal = table()
    for number in range(8):
        given = TarotTable(setup(), number=number, deal=[*deal.dealt, deal.chien])
        assert given.field("dealer") == TarotTable(setup(), number=number).field("dealer")


# ---------------------------------------------------------------------------- starting later


def test_start_after_the_bidding() -> None:
    """`start="discard"`: taker and contract fixed or drawn, every combination reached."""
    fixed = TarotTable(setup(start="discard", taker=2, contract="garde"))
    assert (fixed.phase, fixed.seat, len(fixed.hand(2))) == ("discard", 2, 24)
    sans = TarotTable(setup(start="discard", taker=2, contract="garde_sans"))
    assert (sans.phase, sans.seat) == ("chelem", 2)
    drawn = set()
    for number in range(fewer(200, 120)):
        fresh = TarotTable(setup(start="discard"), number=number)
        drawn.add((fresh.field("taker"), fresh.field("contract")))
    assert drawn == {(seat, contract) for seat in range(4) for contract in (1, 2, 3, 4)}


def test_start_with_the_play() -> None:
    """`start="play"`: six cards discarded as T-3.2 has it, nothing declared, dealer's right leads."""
    for number in range(fewer(100, 10)):
        fresh = TarotTable(setup(start="play", contract="prise"), seed=2, number=number)
        taker = fresh.field("taker")
        assert (fresh.phase, fresh.seat) == ("play", (fresh.field("dealer") + 1) % 4)
        assert [len(fresh.hand(seat)) for seat in range(4)] == [18] * 4
        discard = set(fresh.set("discard"))
        assert len(discard) == 6 and not discard & (KINGS | OUDLERS)
        small = [c for c in fresh.hand(taker) if c in DECK[:56] and c not in KINGS]
        assert not (small and discard & set(DECK[57:]))
        assert fresh.field("chelem") == 0 and fresh.field("shown") == [0] * 4
        fresh.random_play(random.Random(number))
        assert sum(fresh.points()) == 0


def test_a_given_discard_is_the_one_made() -> None:
    """As if the taker had discarded these cards: hands, beliefs and observations are those of the full deal."""
    deal = table(
        "KC KD KH KS T2-T15",
        chien="T16 T17 2C 3D 4H 5S",
        taker=0,
        contract="prise",
        discards=cards("2C 3D 4H 5S T2 T17"),
    )
    whole = [*deal.dealt, deal.chien]
    full = TarotTable(setup(start="discard", taker=0, contract="prise"), deal=whole, dealer=3)
    full.play("5S 2C 3D 4H T17 T2 no_chelem no_poignee")
    for discard in ("T2 2C, 3D 4H T17 5S", cards("T17 T2 2C 3D 4H 5S")):
        later = TarotTable(
            setup(start="play"), deal=whole, dealer=3, taker=0, contract="prise", discard=discard
        )
        assert later.set("discard") == cards("2C 3D 4H 5S T2 T17")
        for seat in range(4):
            assert later.words(seat) == full.words(seat)
            assert later.can_hold(seat) == deal.can_hold(seat, deep=True)


def play_start(**more: Any) -> dict[str, Any]:
    deal = table("KC AC 2C 3C 4C 5C 6C T1 T2")
    return {"deal": [*deal.dealt, deal.chien], "taker": 0, "contract": "garde", **more}


@pytest.mark.parametrize(
    ("start", "options", "message"),
    [
        ("play", play_start(discard="AC 2C 3C 4C 5C"), "expected 6 different cards, got 5"),
        ("play", play_start(discard="AC 2C 3C 4C 5C AC"), "discard: AC is given twice"),
        ("play", play_start(discard="AC 2C 3C 4C 5C KC"), "KC: no king"),
        ("play", play_start(discard="AC 2C 3C 4C 5C T1"), "T1: no king and no oudler"),
        ("play", play_start(discard="AC 2C 3C 4C 5C XX"), "'XX' is not a card"),
        ("play", play_start(discard=17), "expected 6 cards"),
        ("play", play_start(discard="AC 2C 3C 4C 5C 6C", taker=1), "seat 1, does not have AC"),
        ("play", play_start(discard="AC 2C 3C 4C 5C 6C", contract="garde_sans"), "T-3.4"),
        ("play", {"discard": "AC 2C 3C 4C 5C 6C"}, "needs a deal, a taker and a contract"),
        ("discard", play_start(discard="AC 2C 3C 4C 5C 6C"), "only with start='play'"),
        ("bid", {"taker": 1}, "taker: only with start"),
        ("bid", {"contract": "garde"}, "contract: only with start"),
        ("bid", {"discard": "AC 2C 3C 4C 5C 6C"}, "discard: only with start"),
        ("play", {"contract": "petite"}, "expected one of prise"),
        ("play", {"taker": 9}, "taker"),
        ("bid", {"dealer": 9}, "dealer"),
    ],
)
def test_bad_reset_options(start: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GAME.reset_config(setup(start=start), options)


def test_a_trump_is_not_discarded_before_the_suits() -> None:
    deal = table("KC KD KH KS T2-T15", chien="T16 T17 2C 3D 4H 5S")
    options = {"deal": [*deal.dealt, deal.chien], "taker": 0, "contract": "garde"}
    with pytest.raises(ValueError, match=r"no trump may be discarded while 5S is held.*T-3\.2"):
        GAME.reset_config(setup(start="play"), {**options, "discard": "2C 3D 4H T2 T3 T4"})


def test_forbid_pass_never_annuls() -> None:
    rng = random.Random(5)
    for number in range(fewer(30, 3)):
        fresh = TarotTable(setup(forbid_pass=True), number=number)
        while fresh.phase == "bid":
            fresh.force(fresh.legal()[0])
        assert fresh.field("taker") == fresh.field("dealer")
        fresh.random_play(rng)
        assert fresh.info()["settled"] == 1


# ---------------------------------------------------------------------------- rewards


def rewards_of(options: dict[str, Any], case: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Rewards (steps, 4) of a recorded deal."""
    kernel = TarotTable(setup(**options), **custom(case))
    return np.array([kernel.play(action) for *_, action in case["steps"]])


@pytest.mark.parametrize("number", range(0, 150, 11))
def test_reward_modes_have_one_sum(number: int) -> None:
    """A55: points, final and shaped sum to the settlement; final gives it all at the end."""
    case = CASES[number]
    totals = case["score"]["totals"]
    points, final, shaped = (rewards_of({"reward": r}, case) for r in ("points", "final", "shaped"))
    for rewards in (points, final, shaped):
        assert rewards.sum(axis=0).tolist() == totals
        assert not rewards.sum(axis=1).any()  # every step is zero-sum
    assert not final[:-1].any()
    played = [phase for _, phase, *_ in case["steps"]]
    first = played.index("play") if "play" in played else len(played)
    assert not points[:first].any() and not shaped[:first].any()
    if first < len(played):
        middle = [step for step in range(first, len(played)) if (step - first) % 4 != 3]
        assert not points[middle].any() and shaped[middle].any()


def test_zero_sum_changes_nothing_and_scale_multiplies() -> None:
    case = CASES[0]
    plain = rewards_of({}, case)
    assert (rewards_of({"zero_sum": True}, case) == plain).all()
    assert (rewards_of({"reward_scale": 0.25}, case) == plain / 4).all()


def test_the_potential_is_the_trick_as_it_lies() -> None:
    """Garde sans: AC led by the taker is worth 0.5 x 4 to it from each defender; KC over it makes that -5 x 4."""
    deal = table("AC", "KC", "JC", dealer=3)
    custom_deal = {"deal": [*deal.dealt, deal.chien], "dealer": 3}
    kernel = TarotTable(
        setup(start="play", reward="shaped"), taker=0, contract="garde_sans", **custom_deal
    )
    assert kernel.play("AC") == [3 * 2, -2, -2, -2]
    assert kernel.play("KC") == [3 * -22, 22, 22, 22]
    assert kernel.play("JC") == [3 * -6, 6, 6, 6]


# ---------------------------------------------------------------------------- layout


def test_layout_is_disjoint_and_complete() -> None:
    """A53: slices cover 0..len-1 one after the other; the observation fills whole words."""
    for layout in (GAME.layout, GAME.state_layout):
        at = 0
        for piece in layout:
            where = layout.slice(piece.name)
            assert where.start == at and where.stop - where.start == piece.count * piece.width
            at = where.stop
        assert at == layout.size
    assert GAME.layout.size == 1408 == 64 * GAME.layout.words == GAME.row_start


def test_turning_the_table_turns_nothing_for_the_players() -> None:
    """A54: all hands and the dealer moved by one seat: the moved player sees the same."""
    rng = random.Random(6)
    deal = random_deal(rng)
    turned = Deal([deal.dealt[3], *deal.dealt[:3]], deal.chien, (deal.dealer + 1) % 4)
    one, two = same_table(deal), same_table(turned)
    while not one.over:
        assert two.seat == (one.seat + 1) % 4  # type: ignore[operator]
        for seat in range(4):
            assert one.words(seat) == two.words((seat + 1) % 4)
        action = rng.choice(one.legal())
        gain, turned_gain = one.play(action), two.play(action)
        assert turned_gain == [gain[3], *gain[:3]]


def test_masks_are_zero_off_turn() -> None:
    """A13."""
    kernel = same_table(random_deal(random.Random(1)))
    for seat in range(4):
        mask = kernel.observe(seat)[1]
        ids = np.flatnonzero(mask).tolist()
        assert ids == (GAME.legal_ids(kernel.states[0]) if seat == kernel.seat else [])
        assert mask.shape == (89,) and mask.dtype == np.int8


def test_observations_during_play_are_those_asked_for() -> None:
    """What a step writes for the next seat is what `observe` writes for it."""
    rng = random.Random(2)
    kernel = same_table(random_deal(rng))
    while not kernel.over:
        kernel.force(rng.choice(kernel.legal()))
        if kernel.seat is not None:
            observation, mask = kernel.observe(kernel.seat)
            assert (kernel.buffers.obs[0] == observation).all()
            assert (kernel.buffers.mask[0] == mask).all()


def test_random_play_counts_its_actions() -> None:
    """The driver that is measured plays whole deals: the scores of all that ended are zero-sum."""
    buffers = make_buffers(GAME, 4)
    buffers.tables["seed"] = range(4)
    buffers.states["seat"] = -1
    steps = fewer(2000, 50)
    for form, play in random_drivers(GAME).items():
        assert play(setup().config, buffers, steps, 0, 4) == 4 * steps, form
    assert buffers.tables["number"].min() > 0
    assert not np.any(buffers.states["gain"].sum(axis=1))


@pytest.mark.parametrize("form", ["state", "packed", "bytes"])
def test_random_play_stays_legal(form: str) -> None:
    """Each step is that of one of the legal actions, and no card is lost or there twice."""
    kernel, play = TarotTable(setup()), random_drivers(GAME)[form]
    buffers = make_buffers(GAME, 1)
    buffers.states["seat"] = -1
    steps = fewer(400, 160)
    for _ in range(steps):
        before = buffers.states.copy()
        assert play(kernel.config, buffers, 1, 0, 1) == 1
        kernel.states[:] = buffers.states
        places = [
            card
            for pile in ("hands", "played")
            for seat in range(4)
            for card in kernel.set(pile, seat)
        ]
        took = kernel.field("taker") >= 0 and has_taken_chien(kernel.states[0])
        places += kernel.set("discard" if took and kernel.phase != "discard" else "chien")
        if kernel.phase == "discard":
            places = [*places, *kernel.set("discard")]
        assert sorted(places) == sorted(DECK)
        if before["seat"][0] >= 0:
            assert plain(buffers.states) in [
                plain(after_action(kernel, before, action)) for action in GAME.legal_ids(before[0])
            ]
    assert buffers.tables["number"][0] > 1


def after_action(kernel: TarotTable, states: np.ndarray[Any, Any], action: int) -> Any:
    """The states after an action in a copy."""
    after = states.copy()
    GAME.kernels.step(kernel.config, after[0], action)
    return after


def plain(states: Any) -> dict[str, Any]:
    """A state's fields, without the padding between them."""
    return {name: states[name][0].tolist() for name in states.dtype.names}


# ---------------------------------------------------------------------------- interfaces


def replay_aec(case: dict[str, Any]) -> list[float]:
    """A01: what `last()` pays in the loop, summed."""
    env = AEC
    env.reset(options=custom(case))
    total = dict.fromkeys(env.agents, 0.0)
    steps = iter(case["steps"])
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        total[agent] += reward
        if termination or truncation:
            env.step(None)
            continue
        seat, _, legal, action = next(steps)
        assert agent == f"player_{seat}"
        mask = observation["action_mask"]
        assert [GAME.actions[i] for i in np.flatnonzero(mask)] == legal
        env.step(GAME.action_id(action))
    return list(total.values())


def replay_vector(case: dict[str, Any]) -> list[float]:
    env = VECTOR
    observations, infos = env.reset(options=custom(case))
    total = np.zeros(4)
    for step, (seat, _, legal, action) in enumerate(case["steps"]):
        assert infos["seat"].tolist() == [seat, seat]
        mask = observations["action_mask"][1]
        assert [GAME.actions[i] for i in np.flatnonzero(mask)] == legal
        actions = np.full(2, GAME.action_id(action))
        observations, rewards, terminations, _, infos = env.step(actions)
        assert terminations.all() == (step == len(case["steps"]) - 1)
        total += rewards[0]
    return total.tolist()


def replay_single(case: dict[str, Any]) -> list[float]:
    """Each seat in turn as the learner; the others play the record."""
    totals = []
    for learner in range(4):
        script = [(seat, action) for seat, _, _, action in case["steps"]]

        def opponent(view: Any, script: list[tuple[int, str]] = script) -> int:
            seat, action = script.pop(0)
            assert seat == view.seat
            return GAME.action_id(action)

        env = tarot_env.single_env(opponents=opponent, seat=learner)
        env.reset(seed=0, options=custom(case))
        total, over = 0.0, False
        while not over:
            seat, action = script.pop(0)
            assert seat == learner
            _, reward, over, _, info = env.step(GAME.action_id(action))
            total += reward
        totals.append(total)
        if not case["score"]["annulled"]:
            assert info["per_defender"] == case["score"]["per_defender"]
    return totals


AEC = tarot_env.env()
VECTOR = tarot_env.vector_env(num_envs=2)


@pytest.mark.parametrize(
    ("replay", "every"), [(replay_aec, 3), (replay_vector, 3), (replay_single, 12)]
)
def test_recorded_deals_through_the_interfaces(
    replay: Callable[[dict[str, Any]], list[float]], every: int
) -> None:
    """Seats, legal actions and totals of recorded deals in PettingZoo, vector and Gymnasium."""
    for number in range(0, len(CASES), fewer(every, 75)):
        assert replay(CASES[number]) == CASES[number]["score"]["totals"], number


@pytest.mark.long
@pytest.mark.parametrize("replay", [replay_aec, replay_vector, replay_single])
def test_all_recorded_deals_through_the_interfaces(
    replay: Callable[[dict[str, Any]], list[float]],
) -> None:
    for number, case in enumerate(CASES):
        assert replay(case) == case["score"]["totals"], number


def test_ids_are_registered() -> None:
    import gymnasium
    import pettingzoo

    env = gymnasium.make("tarot/deal-v0", opponents="random", start="play", contract="garde")
    _, info = env.reset(seed=1)
    assert info["action_mask"].shape == (89,)
    assert gymnasium.make_vec("tarot/deal-v0", num_envs=3, forbid_pass=True).num_envs == 3
    assert setup_for("tarot/deal-v0", dealer=1).options["dealer"] == 1
    if hasattr(pettingzoo, "make"):
        assert pettingzoo.make("aec", "tarot/deal-v0").metadata["name"] == "tarot_deal_v0"


@pytest.mark.parametrize("start", ["bid", "discard", "play"])
def test_records_replay(start: str) -> None:
    """A record of an episode that began at any point holds what is needed to play it again without the seed."""
    for number in range(fewer(6, 1)):
        played = RecordTable(setup(start=start), seed=3, number=number)
        rng = random.Random(number)
        while not played.over:
            played.step(rng.choice(played.legal))
        data = json.loads(json.dumps(to_record(played).to_json()))
        assert [step.points for step in Record.from_json(data).replay()]
        data["seed"] = None
        record = Record.from_json(data)
        assert list(record.replay())[-1].points == list(to_record(played).replay())[-1].points
        for seat in (None, 0, 1, 2, 3):
            assert "The end" in record.show(seat)


# ---------------------------------------------------------------------------- text


def test_render_shows_what_the_seat_may_see() -> None:
    """All hands without a seat; else one hand, the public chien and discards, and the legal actions on turn."""
    deal = table("KC KD KH KS T2-T15", chien="T16 T17 2C 3D 4H 5S", dealer=3)
    kernel = same_table(deal)

    def drawn(seat: int | None) -> str:
        return GAME.render(kernel.setup, kernel.states, 0, seat, [])

    assert "bidding" in drawn(0) and "Chien" not in drawn(0) and "Chien: 2C 3D" in drawn(None)
    assert "player_0 bids: pass prise garde garde_sans garde_contre" in drawn(0)
    assert drawn(1).splitlines()[-1] == "player_0 bids"
    kernel.play("garde pass pass pass")
    assert "garde (x2) by player_0" in drawn(2) and "Chien: 2C 3D 4H 5S T16 T17" in drawn(2)
    assert "24 cards" in drawn(2)
    kernel.play("2C 3D 4H 5S T2 T17 no_chelem")
    assert "Discarded: 2C 3D 4H 5S T2 T17" in drawn(0)
    assert "Discarded: T2 T17 and 4 more" in drawn(1)
    assert "may show a poignée: no_poignee poignee_10" in drawn(0)
    assert "poignée" not in drawn(1) and "player_0 leads" in drawn(1)
    kernel.play("poignee_15")
    assert "keeps trumps back: T17 T16" in drawn(0) and "keeps" not in drawn(3)
    kernel.play("T17")
    assert "poignée of 15: T2 T3 T4" in drawn(3)
    kernel.random_play(random.Random(0))
    assert "The end. The taker has" in drawn(1)
    assert "Points: player_0 " in drawn(1)


def test_render_of_an_annulled_and_of_a_stopped_deal() -> None:
    kernel = TarotTable(setup())
    kernel.drivers.abort(kernel.states, 0)
    assert "stopped" in GAME.render(kernel.setup, kernel.states, 0, 0)
    kernel = TarotTable(setup())
    kernel.play("pass pass pass pass")
    assert "annulled" in GAME.render(kernel.setup, kernel.states, 0, None)


@pytest.mark.parametrize("actions", ["", "poignee_10"])
def test_a_deal_stopped_while_a_poignee_is_asked_is_over(actions: str) -> None:
    """T-4.1: nobody leads any more, and nobody sees who was asked or what it has kept back."""
    deal = table("2C", "T1-T12", dealer=3)
    kernel = same_table(deal)
    kernel.play(f"garde_contre pass pass pass no_chelem {actions}")
    assert kernel.phase == ("keep" if actions else "poignee")
    if actions:
        kernel.play("T4")
    kernel.drivers.abort(kernel.states, 0)
    for seat in (None, 0, 1, 2, 3):
        text = GAME.render(kernel.setup, kernel.states, 0, seat)
        assert text.splitlines()[-1] == "The end: stopped before the deal was over"
        assert "leads" not in text and ">" not in text
        if seat is None:
            continue
        record = kernel.view(seat)
        assert GAME.render(kernel.setup, record, 0, seat) == text
        assert kernel.words(seat, record) == kernel.words(seat)
        seen = {name: record[name][0].tolist() for name in ("seat", "phase", "level", "kept")}
        assert seen == {"seat": -1, "phase": PHASES.index("play"), "level": 0, "kept": 0}
        view = view_of(kernel.setup, kernel.states, seat=seat)
        assert view.record["seat"][0] == -1 and not view["action_mask"].any()


def test_every_step_of_a_deal_can_be_drawn() -> None:
    rng = random.Random(12)
    deal = random_deal(rng)
    actions = [action for _, action in random_playout(deal, rng).actions]
    kernel = same_table(Deal(deal.dealt, deal.chien, deal.dealer))
    history: list[int] = []
    for action in actions:
        for seat in (None, 0, 1, 2, 3):
            text = GAME.render(kernel.setup, kernel.states, 0, seat, history)
            assert text and text == text.rstrip()
            if seat is not None:
                # The same from the seat's own record: the text uses nothing else.
                assert GAME.render(kernel.setup, kernel.view(seat), 0, seat, history) == text
        kernel.play(action)
        history.append(GAME.action_id(action))


def test_actions_that_all_see() -> None:
    """T-3.3, T-4.1: hidden are the discards of suit cards, and all that leads to a poignée; nothing else."""
    deal = table("KC KD KH KS T2-T15", chien="T16 T17 2C 3D 4H 5S", dealer=3)
    kernel = same_table(deal)
    hidden = []
    actions = "garde pass pass pass 2C 3D 4H 5S T2 T17 no_chelem poignee_15 T17 KC"
    for action in actions.split():
        if not GAME.is_public(kernel.states, 0, GAME.action_id(action)):  # type: ignore[misc]
            hidden.append(f"{kernel.phase} {action}")
        kernel.play(action)
    assert hidden == [
        *("discard 2C", "discard 3D", "discard 4H", "discard 5S"),
        *("poignee poignee_15", "keep T17"),
    ]


def test_a_record_from_a_seats_view_hides_who_was_asked() -> None:
    """T-4.1: the steps of a declaration are shown to the seat that made it alone."""
    deal = table("2C", "T1-T12", dealer=3)
    played = RecordTable(setup(), options={"deal": [*deal.dealt, deal.chien], "dealer": 3})
    actions = "garde_contre pass pass pass no_chelem poignee_10 T4 T12"
    for action in actions.split():
        played.step(action)
    record = to_record(played)
    assert "poignee_10" in record.show() and "poignee_10" in record.show(1)
    for seat in (0, 2, 3):
        assert "poignee_10" not in record.show(seat)
        assert "player_1" not in record.show(seat).split("no_chelem")[1].split("garde_contre")[0]
