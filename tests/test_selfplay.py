"""The self-play trainer: whose reward is whose, masks, exact resume, head starts, opponents, and what it leaves."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
import torch

from baselines.bots.net import find
from baselines.cli import main
from baselines.train import selfplay
from baselines.train.selfplay import Decisions, SelfPlay, SelfPlayConfig, advantages, split, train
from bolola_env import Contract, make_setup
from trick_core.bots import make_bot
from trick_core.game import same_config, setup_for

TWO = ("bolola/hearts-v0", "bolola/trump-v0")


def small(folder="unused", **changes):
    settings = {
        "envs": TWO,
        "steps": 2_000,
        "tables": 8,
        "minibatch": 64,
        "eval_deals": 2,
        "layers": (16,),
        "folder": str(folder),
    }
    return SelfPlayConfig(**{**settings, **changes})


def decisions(*rows):
    """Decisions from (step, table, seat)."""
    steps, tables, seats = np.array(rows).T
    none = np.zeros(len(rows))
    return Decisions(none, none, none, none, none, steps, tables, seats, none, none, none)


def test_rewards_go_to_the_decision_before_them():
    """What falls between two decisions of a seat belongs to the first, at each table for itself."""
    made = decisions((0, 0, 2), (1, 0, 3), (1, 1, 2), (3, 0, 2))
    rewards = np.zeros((5, 2, 4))
    rewards[0, 0, 2] = 1.0
    rewards[2, 0] = (7.0, 7.0, 10.0, 100.0)
    rewards[4, 0, 2] = 1000.0
    rewards[4, 1, 2] = -5.0
    total = advantages(made, np.zeros(4, np.float32), rewards, 1.0, 1.0)
    assert total.tolist() == [1011.0, 100.0, -5.0, 1000.0]


def test_advantages_are_generalized():
    """With lambda 0 they are one-step errors, between them the weighted sum; gamma counts a seat's own decisions."""
    made = decisions((0, 0, 0), (2, 0, 0), (4, 0, 0))
    values = np.array([1.0, 2.0, 4.0], np.float32)
    rewards = np.zeros((5, 1, 4))
    rewards[1, 0, 0], rewards[4, 0, 0] = 3.0, 8.0
    one_step = advantages(made, values, rewards, 0.5, 0.0)
    assert one_step.tolist() == [3.0 + 0.5 * 2.0 - 1.0, 0.5 * 4.0 - 2.0, 8.0 - 4.0]
    mixed = advantages(made, values, rewards, 0.5, 0.8)
    third = 4.0
    second = 0.0 + 0.4 * third
    assert mixed.tolist() == pytest.approx([3.0 + 0.4 * second, second, third])


@pytest.mark.parametrize("envs", [TWO, ("tarot/deal-v0",)])
def test_masks_are_respected_and_returns_are_the_seats_own(envs):
    """A32: actions are legal; forced decisions are not learned; a seat's return is what it still gets over the mean, scaled."""
    run = SelfPlay(small(envs=envs))
    played = run.tables.play(0, run.choose)
    made = played.decisions
    bits = run.mask(made.legal).numpy()
    assert bits[np.arange(len(bits)), made.actions].all()
    assert (bits.sum(axis=1) > 1).all()
    assert played.taken > len(bits)
    total = advantages(made, np.zeros(len(bits), np.float32), played.rewards, 1.0, 1.0)
    for k, (batch, scale) in enumerate(zip(run.tables.batches, run.scales, strict=True)):
        game, count = batch.setup.game, batch.num_tables
        points = np.zeros((count, 4))
        rows = np.arange(count)
        selfplay._returns_driver(game)(batch.config, batch.buffers.states, rows, points)
        over = (points - points.mean(axis=1, keepdims=True)) * game.unit * scale
        for table in range(count):
            for seat in range(4):
                own = (made.tables == run.tables.starts[k] + table) & (made.seats == seat)
                if own.any():
                    first = np.flatnonzero(own)[0]
                    before = slice(made.steps[first])
                    fallen = played.rewards[before, made.tables[first], seat].sum()
                    left = over[table, seat] - fallen
                    assert total[first] == pytest.approx(left, abs=1e-5)


def test_rewards_have_deviation_one_among_greedy_players():
    run = SelfPlay(small(tables=400))
    greedy = make_bot("greedy")
    who = np.ones((400, 4), np.int8)
    who[:, 0] = 0  # somebody must be asked
    played = run.tables.play(5, run.choose, [greedy], who)
    spread = played.rewards[:, :200].sum(axis=0)[:, 1:].std()
    assert 0.7 < spread < 1.4


def test_playouts_are_what_the_teacher_makes_of_every_action():
    """In the true deal: with the teacher in all seats, its own choice is worth what the game then brings."""
    run = SelfPlay(small(worlds=1, head_start="playouts", envs=("bolola/queens-v0",), tables=6))
    greedy = make_bot("greedy")

    taught = run.tables.play(0, run.choose, teacher=greedy, values=False).decisions
    assert (taught.taught.sum(axis=1) == 1).all()

    def as_greedy(words, legal):
        batch = run.tables.batches[0]
        seats = batch.buffers.seats
        mask = batch.buffers.mask
        rows = np.flatnonzero((seats >= 0) & (mask.sum(axis=1) > 1))
        return batch.ask(greedy, rows), np.zeros(len(rows), np.float32)

    played = run.tables.play(0, as_greedy, teacher=greedy, values=True)
    made = played.decisions
    left = advantages(made, np.zeros(len(made.actions), np.float32), played.rewards, 1.0, 1.0)
    own = made.taught[np.arange(len(left)), made.actions]
    assert own == pytest.approx(left + made.before, abs=1e-5)
    assert (made.taught.max(axis=1) > own + 0.1).any(), "another action may be worth more"
    assert (made.taught[run.mask(made.legal).numpy() == 0] == 0).all()


@pytest.mark.parametrize(
    ("envs", "inputs"),
    [
        (["hearts"], 896),
        (["hearts", "trump"], 905),
        (["match"], 905),
        ([Contract(name="mine", trick_points=-1), "hearts"], 905),
        ([Contract(name="a", trick_points=1), Contract(name="b", trick_points=2)], 1753),
    ],
)
def test_a_net_reads_what_tells_the_deals_apart(envs, inputs):
    """The changing part, and pieces of the contract's row as far as they differ."""
    assert selfplay.needed_inputs([make_setup(env) for env in envs]) == inputs


@pytest.mark.parametrize(
    ("tables", "weights", "shares"),
    [(10, (1, 1, 1), [4, 3, 3]), (8, (3, 1), [6, 2]), (4, (100, 1, 1), [2, 1, 1])],
)
def test_tables_are_shared_out_by_weight(tables, weights, shares):
    assert split(tables, weights) == shares


@pytest.mark.parametrize("game", ["bolola", "tarot"])
def test_a_run_leaves_net_checkpoint_curve_and_settings(game, tmp_path):
    envs = TWO if game == "bolola" else ("tarot/deal-v0",)
    result = train(small(tmp_path, envs=envs), progress=False)
    files = {file.name for file in tmp_path.iterdir()}
    assert files >= {"net.npz", "checkpoint.pt", "run.json", "curve.csv", "curve.png"}
    assert result.steps >= 2_000
    assert len(result.curve) >= 2
    net = find(str(tmp_path / "net.npz"))
    assert net.about["stages"][-1]["config"]["seed"] == 0
    assert np.array_equal(net.weights[0], result.net.weights[0])


def weights_of(run):
    return {name: value.clone() for name, value in run.agent.state_dict().items()}


def test_resume_equals_a_run_without_a_break(tmp_path):
    """Bit for bit, through the head start, past selves and compiled opponents, after a checkpoint on disk."""
    config = small(
        head_start="playouts",
        head_steps=700,
        worlds=2,
        opponents=("past", "greedy"),
        opponent_share=0.5,
        past_every=1,
        past_size=2,
    )
    whole, first, second = SelfPlay(config), SelfPlay(config), SelfPlay(config)
    shares = [0.0, 0.2, 0.4, 0.6, 0.8]
    for share in shares:
        whole.iterate(share)
    for share in shares[:3]:
        first.iterate(share)
    torch.save(first.state(), tmp_path / "checkpoint.pt")
    second.load_state(torch.load(tmp_path / "checkpoint.pt", weights_only=True))
    for share in shares[3:]:
        second.iterate(share)
    assert not whole.in_head
    assert len(whole.past) == 2
    assert whole.steps == second.steps
    for name, value in weights_of(whole).items():
        assert torch.equal(value, weights_of(second)[name]), name
    assert np.array_equal(whole.net().weights[0], second.net().weights[0])


def test_an_interrupted_run_goes_on_from_its_checkpoint(tmp_path):
    """The curve and the net are those of the run that was not interrupted."""
    settings = {"eval_every": 1e-9, "steps": 2_500}
    whole = train(small(tmp_path / "whole", **settings), progress=False)
    rows = []

    def stop(row):
        rows.append(row)
        if len(rows) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(small(tmp_path / "broken", **settings), progress=False, report=stop)
    again = train(small(tmp_path / "broken", **settings), resume=True, progress=False)
    for one, other in zip(whole.net.weights, again.net.weights, strict=True):
        assert np.array_equal(one, other)
    assert [row["greedy_mean"] for row in whole.curve] == [
        row["greedy_mean"] for row in again.curve
    ]


def test_same_seed_same_net(tmp_path):
    nets = [
        train(small(tmp_path / str(k), seed=seed, steps=800), progress=False).net
        for k, seed in enumerate((0, 0, 1))
    ]
    assert np.array_equal(nets[0].weights[0], nets[1].weights[0])
    assert not np.array_equal(nets[0].weights[0], nets[2].weights[0])


def test_a_run_is_not_lost_by_accident(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        train(small(tmp_path), resume=True, progress=False)
    train(small(tmp_path, steps=400), progress=False)
    with pytest.raises(FileExistsError, match="holds a run"):
        train(small(tmp_path), progress=False)
    with pytest.raises(
        ValueError, match="holds a run on bolola/hearts-v0, bolola/trump-v0, not on"
    ):
        train(small(tmp_path, envs=("bolola/queens-v0",)), resume=True, progress=False)


def test_a_net_knows_the_runs_it_comes_from(tmp_path):
    """Also after a run that was resumed."""
    train(small(tmp_path / "one", steps=400), progress=False)
    first = str(tmp_path / "one" / "net.npz")
    two = small(tmp_path / "two", steps=400, init=first)
    train(two, progress=False)
    train(replace(two, steps=800, init=None), resume=True, progress=False)
    stages = find(str(tmp_path / "two" / "net.npz")).about["stages"]
    assert [stage["steps"] >= least for stage, least in zip(stages, (400, 800), strict=True)]
    assert f"--init {first}" in stages[1]["command"]


def test_a_users_row_is_trained_on_resumed_and_told(tmp_path):
    """With a contract row as an option, checkpoint, settings and the net's command hold it as the mapping of its fields."""
    row = Contract(name="mine", card_points={"H": -1, "QS": -13}, locked_suit="H")
    config = small(
        tmp_path, envs=("bolola/custom-v0",), options={"contract": row, "starter": 2}, steps=300
    )
    train(config, progress=False)
    result = train(replace(config, steps=600), resume=True, progress=False)
    assert result.steps >= 600
    words = shlex.split(find(str(tmp_path / "net.npz")).about["stages"][-1]["command"])
    told = [words[k + 1].partition("=") for k, word in enumerate(words) if word == "--option"]
    options = {name: json.loads(value) for name, _, value in told}
    assert options["starter"] == 2
    again, setup = setup_for("bolola/custom-v0", **options), setup_for(make_setup(row, starter=2))
    assert same_config(again.config, setup.config)


def test_a_run_is_not_resumed_on_another_row(tmp_path):
    """Rows of one id, given as setups: the file holds all their options, and so does the command."""
    take, avoid = (make_setup(Contract(name="mine", trick_points=p)) for p in (50, -50))
    config = small(tmp_path, envs=(take,), steps=100, tables=2, eval_deals=2)
    train(config, progress=False)
    with pytest.raises(ValueError, match="with other options"):
        train(replace(config, envs=(avoid,), steps=300), resume=True, progress=False)
    assert train(replace(config, steps=300), resume=True, progress=False).steps >= 300
    words = shlex.split(find(str(tmp_path / "net.npz")).about["stages"][-1]["command"])
    row = next(json.loads(w.partition("=")[2]) for w in words if w.startswith("contract="))
    assert same_config(setup_for("bolola/custom-v0", contract=row).config, take.config)


def test_a_run_file_that_does_not_fit_its_checkpoint_is_refused(tmp_path):
    config = small(tmp_path, steps=100, tables=2)
    train(config, progress=False)
    kept = json.loads((tmp_path / "run.json").read_text())
    for name, value in (("layers", [32]), ("eval_against", ["greedy-v1"])):
        bad = {**kept, "config": {**kept["config"], name: value}}
        (tmp_path / "run.json").write_text(json.dumps(bad))
        with pytest.raises(ValueError, match=r"does not fit run\.json|the curve has others"):
            train(replace(config, steps=300), resume=True, progress=False)


def test_the_smallest_minibatches_learn(tmp_path):
    """No step rests on a single decision, whose deviation is no number."""
    result = train(small(tmp_path, steps=300, tables=1, minibatch=2, envs=TWO[:1]), progress=False)
    assert all(np.isfinite(weight).all() for weight in result.net.weights)


def test_a_loss_that_is_no_number_ends_the_run(monkeypatch):
    """And the checkpoint before it stands, since none is written after it."""
    run = SelfPlay(small())
    monkeypatch.setattr(run, "_learn", lambda played: {"policy_loss": np.nan, "value_loss": 0.0})
    with pytest.raises(ValueError, match="the last checkpoint stands"):
        run.iterate(0.0)


def test_where_nothing_is_to_be_chosen(tmp_path):
    """A deal that is over before its first card: no decision had a choice."""
    nothing = make_setup(Contract(name="nothing"), early_stop=True)
    with pytest.raises(ValueError, match="there is nothing to learn"):
        train(
            small(
                tmp_path,
                envs=(nothing,),
                opponents=("random",),
                opponent_share=1.0,
                opponent_seats=3,
                tables=1,
            ),
            progress=False,
        )


def test_numbers_may_be_numpys(tmp_path):
    config = small(
        tmp_path, steps=np.int64(100), seed=np.int64(3), tables=2, learning_rate=np.float32(1e-3)
    )
    train(config, progress=False)
    assert json.loads((tmp_path / "run.json").read_text())["config"]["seed"] == 3


def test_a_run_from_a_net_that_reads_more_can_be_resumed(tmp_path):
    """A net of two contracts reads the contract's row too; trained on in one of them, it goes on doing so."""
    train(small(tmp_path / "two"), progress=False)
    net = str(tmp_path / "two" / "net.npz")
    config = small(tmp_path / "one", envs=TWO[:1], init=net, steps=300)
    first = train(config, progress=False)
    second = train(replace(config, steps=900), resume=True, progress=False)
    assert first.net.inputs == second.net.inputs == 905
    assert second.steps >= 900


def test_inputs_that_never_changed_say_nothing():
    """A net trained on deals plays in a match as in a deal; on what it was trained on it is the policy itself."""
    run = SelfPlay(small(tables=16))
    run.iterate(0.0)
    made = run.tables.play(0, run.choose).decisions
    run.ever |= np.bitwise_or.reduce(made.words)
    run.always &= np.bitwise_and.reduce(made.words)
    net = run.net()
    with torch.no_grad():
        policy = run.agent.policy(run.observed(made.words)).numpy()
    assert np.abs(net.logits(made.words) - policy).max() < 1e-4
    layout = run.game.layout
    match = made.words.copy()
    at = layout.slice("match").start
    match[:, at // 64] |= np.uint64(1 << (at % 64))
    assert np.array_equal(net.logits(match), net.logits(made.words))


def test_a_run_starts_from_a_net(tmp_path):
    """Also one that reads more values: what the old net did not read has weight 0."""
    train(small(tmp_path, envs=("bolola/hearts-v0",), steps=400), progress=False)
    file = str(tmp_path / "net.npz")
    old = find(file)
    run = SelfPlay(small(init=file, layers=(99,)))
    assert old.inputs == 896
    assert run.inputs == 905
    made = run.tables.play(0, run.choose).decisions
    assert np.abs(run.net().logits(made.words) - old.logits(made.words)).max() < 1e-5
    with torch.no_grad():
        seen = run.observed(made.words)
        hands = selfplay._hand_bits(made.hands, run.game)
        values = run.values(seen, made.hands).numpy()
    both = np.concatenate((seen.numpy()[:, :896], hands), axis=1)
    from baselines.bots.net import forward

    weights, biases = zip(*old.critic, strict=True)
    assert np.abs(forward(both, weights, biases)[:, 0] - values).max() < 1e-4


def test_a_net_of_another_game_is_refused(tmp_path):
    train(small(tmp_path, steps=400), progress=False)
    with pytest.raises(ValueError, match="plays bolola, not tarot"):
        SelfPlay(small(envs=("tarot/deal-v0",), init=str(tmp_path / "net.npz")))


@pytest.mark.parametrize(("seats", "learners"), [(None, {1, 2, 3}), (3, {1}), (1, {3})])
def test_opponents_hold_some_seats_and_the_learner_learns_from_its_own(seats, learners):
    run = SelfPlay(small(opponents=("greedy",), opponent_share=1.0, opponent_seats=seats))
    bots, who = run._opponents(60)
    assert [bot.name for bot in bots] == ["greedy"]
    assert set((who == 0).sum(axis=1)) == learners
    count = run.tables.num_tables
    bots, who = run._opponents(count)
    made = run.tables.play(0, run.choose, bots, who).decisions
    assert (who[made.tables, made.seats] == 0).all()


def gaining(**changes):
    """A run whose head start is among greedy, and raises the gain of playouts."""
    settings = {"head_start": "playouts", "head_loss": "gain", "worlds": 1, "head_steps": 10**9}
    settings |= {"opponents": ("greedy",), "opponent_share": 1.0, "opponent_seats": 3}
    return SelfPlay(small(**{**settings, "head_tables": 64, "entropy": 0.0, **changes}))


def test_a_head_start_among_opponents_learns_from_the_learners_decisions_and_hears_the_teacher():
    run = gaining()
    bots, who = run._opponents(run.head_tables.num_tables)
    teacher = make_bot("greedy")
    asked = {"teacher": teacher, "values": True, "advice": True}
    made = run.head_tables.play(0, run.choose, bots, who, **asked).decisions
    assert (who[made.tables, made.seats] == 0).all()
    legal = run.mask(made.legal).numpy()
    assert legal[np.arange(len(legal)), made.advised].all()
    plain = run.head_tables.play(0, run.choose, bots, who, teacher=teacher).decisions
    same = len(plain.taught) and plain.taught.argmax(axis=1)[0] == made.advised[0]
    assert same, "the first decision is the same in both"


def test_worlds_that_explain_the_play_are_closer_to_the_true_deal():
    """Late in a deal, what actions bring in another deal misses the truth by less if that deal explains what the others played."""

    def values(worlds, slips):
        run = gaining(worlds=worlds, slips=slips, head_tables=300, opponent_share=1.0)
        bots, who = run._opponents(300)
        play = run.head_tables.play
        made = play(0, run.choose, bots, who, teacher=run.teacher, values=True).decisions
        legal = run.mask(made.legal).numpy()
        mean = made.taught.sum(axis=1) / legal.sum(axis=1)
        return np.where(legal, made.taught - mean[:, None], 0.0)[-len(legal) // 4 :]

    true = values(1, 1.0)

    def miss(slips):
        return np.square(values(2, slips) - true).sum(axis=1).mean()

    assert miss(0.01) < 0.9 * miss(1.0)
    assert np.array_equal(values(2, 0.01), values(2, 0.01))


def test_the_rate_of_a_head_start_falls_with_the_steps_or_the_time_whichever_end_sooner():
    run = gaining(head_tables=2, head_steps=1000, head_rate=0.01)
    for share, expected in [(0.0, 1.0), (0.5, 0.55), (1.0, 0.1)]:
        run.steps = 0
        run.iterate(share)
        assert run.optimizer.param_groups[0]["lr"] == pytest.approx(0.01 * expected)
    run.steps = 900
    run.in_head = True
    run.iterate(0.5)
    assert run.optimizer.param_groups[0]["lr"] == pytest.approx(0.01 * 0.19)


def test_following_the_teacher_makes_its_choices_likely():
    """With the gain left out by a range of next to nothing, what is learned is what greedy would do."""

    def surprise():
        play = run.head_tables.play
        made = play(99, run.choose, teacher=run.teacher, values=True, advice=True).decisions
        logits = run.logits(run.observed(made.words), run.mask(made.legal)).log_softmax(dim=1)
        return -float(logits.gather(1, torch.from_numpy(made.advised)[:, None]).mean().detach())

    learned = {"head_range": 1e-9, "head_follow": 1.0, "value": 0.0, "opponents": ()}
    run = gaining(**learned, head_tables=128, head_rate=5e-3, head_minibatch=64, layers=(64,))
    before = surprise()
    for _ in range(6):
        run.iterate(0.0)
    after = surprise()
    assert after < 0.9 * before, (before, after)


def test_a_range_bounds_what_a_decision_counts():
    free, bound, tiny = (
        gaining(head_range=r).iterate(0.0)["policy_loss"] for r in (None, 0.1, 1e-9)
    )
    assert abs(tiny) < 1e-6 < abs(bound) < abs(free)


def test_a_critic_of_no_weight_learns_nothing():
    run = gaining(value=0.0)
    before = [layer.weight.detach().clone() for layer in run.agent.critic.linears]
    policy = run.agent.policy.linears[0].weight.detach().clone()
    run.iterate(0.0)
    after = [layer.weight for layer in run.agent.critic.linears]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert not torch.equal(policy, run.agent.policy.linears[0].weight)


def test_imitation_comes_close_to_its_bot():
    run = SelfPlay(small(head_tables=256, head_start="imitate", head_steps=10**9, layers=(64,)))
    first = run.iterate(0.0)["alike"]
    for _ in range(6):
        last = run.iterate(0.0)["alike"]
    assert last > first + 0.15


@pytest.mark.parametrize("changes", [{"critic": "public"}, {"belief": 0.1}])
def test_other_critics_and_the_belief_loss_run(changes):
    run = SelfPlay(small(**changes))
    stats = run.iterate(0.0)
    assert all(np.isfinite(value) for value in stats.values())


def test_the_other_hands_are_those_that_the_others_hold():
    """The privileged part: relative seats 1 to 3, and what they hold."""
    run = SelfPlay(small())
    made = run.tables.play(0, run.choose).decisions
    first = int(np.flatnonzero((made.steps == 0) & (made.tables == 2))[0])
    batch = run.tables.batches[0]
    batch.buffers.tables["number"] = 0
    batch.reset()
    hands, seat = batch.buffers.states["hands"][2], int(made.seats[first])
    for k in range(3):
        assert made.hands[first, k] == hands[(seat + k + 1) % 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tables": 1}, "tables: expected at least one"),
        ({"weights": (1.0,)}, "weights: expected 2"),
        ({"head_start": "sleep"}, "head_start: expected one of"),
        ({"critic": "all"}, "critic: expected one of"),
        ({"opponents": ("nobody",)}, "no bot 'nobody'"),
        ({"learning_rate": 0.0}, "learning_rate: expected more than 0"),
        ({"layers": 5}, "layers: expected a list"),
        ({"eval_against": "greedy"}, "eval_against: expected a list"),
        ({"opponents": None}, "opponents: expected a list"),
        ({"weights": 5}, "weights: expected a list"),
        ({"options": None}, "options: expected options by name"),
        ({"layers": ()}, "layers"),
        ({"opponent_seats": 4}, "opponent_seats: expected 1 to 3"),
        ({"head_range": 0.0}, "head_range: expected more than 0"),
        ({"head_follow": -1.0}, "head_follow: expected 0 or more"),
    ],
)
def test_settings_out_of_range(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_environments_of_two_games_are_refused():
    with pytest.raises(ValueError, match="environments of one game"):
        SelfPlay(small(envs=("bolola/hearts-v0", "tarot/deal-v0")))


def test_the_command_trains_and_the_net_is_a_bot(capsys, tmp_path):
    arguments = ["train", *TWO, "--trainer", "self-play", "--steps", "800", "--tables", "8"]
    arguments += ["--eval-deals", "2", "--out", str(tmp_path), "--set", "layers=[16]"]
    assert main([*arguments, "--playouts", "greedy", "--head-steps", "300"]) == 0
    assert f"as a bot: net:{tmp_path / 'net.npz'}" in capsys.readouterr().out
    against = ["--policies", f"net:{tmp_path / 'net.npz'}", "random", "--deals", "5"]
    assert main(["evaluate", TWO[0], *against]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*TWO], "several environments: only with --trainer self-play"),
        ([TWO[0], "--init", "x"], "--init: only with --trainer self-play"),
        ([TWO[0], "--trainer", "self-play", "--set", "depth=3"], "--set: no setting 'depth'"),
        ([TWO[0], "--trainer", "self-play", "--init", "x"], "no net 'x'"),
    ],
)
def test_flags_that_do_not_fit_are_refused(arguments, message, capsys):
    assert main(["train", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_match_can_be_trained_on():
    setup = setup_for("bolola/match-v0", order=["hearts", "trump"])
    run = SelfPlay(small(envs=(setup,), tables=4))
    stats = run.iterate(0.0)
    assert run.inputs == 905
    assert np.isfinite(stats["policy_loss"])
