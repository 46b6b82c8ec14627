"""Properties of every architecture, over the tables."""

import functools
import itertools
from dataclasses import replace

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.models import MODELS, make_model
from aedjax.models.attention import ATTENTIONS
from aedjax.models.cells import CELLS
from aedjax.models.config import ModelConfig
from aedjax.models.decoding import greedy
from aedjax.types import BOS, EOS, PAD, Batch

from .conftest import LONGEST, VOCABULARY

KINDS = [
    *(ModelConfig("ved", cell, hidden_size=6) for cell in CELLS),
    *(ModelConfig("aed", c, a, hidden_size=6) for c, a in itertools.product(CELLS, ATTENTIONS)),
    *(ModelConfig("ao", attention=a, hidden_size=6, embedding_size=4) for a in ATTENTIONS),
]
"""Every architecture with every cell and every attention that it uses."""
GRU, LSTM = (ModelConfig("ved", cell, hidden_size=6) for cell in ("gru", "lstm"))


def label(config: ModelConfig) -> str:
    return f"{config.architecture}-{config.cell}-{config.attention}"


@functools.cache
def built(config: ModelConfig):
    """A network with its functions compiled, and random parameters; biases are not 0 either."""
    model = make_model(config, VOCABULARY, VOCABULARY)
    compiled = model._replace(
        **{f: jax.jit(getattr(model, f)) for f in ("apply", "encode", "step")}
    )
    rng = np.random.default_rng(3)
    shapes = jax.eval_shape(model.init, jax.random.key(0), 1.0)
    return compiled, jax.tree.map(lambda leaf: jnp.float32(rng.normal(0, 0.5, leaf.shape)), shapes)


@pytest.fixture(params=KINDS, ids=label)
def network(request):
    return built(request.param)


def test_teacher_forcing_is_stepping_fed_the_targets(network, batch):
    model, params = network
    forced = model.apply(params, batch).logits
    memory = model.encode(params, batch.encoder_words)
    carry, stepped = memory.carry, []
    for position, word in enumerate(batch.decoder_words.T):
        logits, carry = model.step(params, memory, carry, word, position)
        stepped.append(logits)
    stepped = np.stack(stepped, axis=1)
    lengths = np.asarray(batch.decoder_mask.sum(axis=1))
    assert set(lengths) == set(range(1, LONGEST + 1))
    for n, length in enumerate(lengths):
        np.testing.assert_allclose(stepped[n, :length], forced[n, :length], rtol=2e-5, atol=2e-6)


def test_padding_changes_nothing(network, batch):
    model, params = network
    wider = Batch(*(jnp.pad(words, ((0, 0), (0, 3))) for words in batch[:3]), None)
    short, long = model.apply(params, batch), model.apply(params, wider)
    steps, positions = np.asarray(batch.decoder_mask), np.asarray(batch.encoder_mask)
    both = steps[:, :, None] & positions[:, None, :]
    where = dict.fromkeys(("decoder", "query", "context"), steps)
    where |= dict.fromkeys(("encoder", "key", "value"), positions)
    where |= dict.fromkeys(("scores", "attention"), both)
    pairs = [(short.logits, long.logits, steps)]
    for name, leaf in short.states._asdict().items():
        if leaf is not None:
            pairs.append((leaf, getattr(long.states, name), where[name]))
    for one, other, valid in pairs:
        other = np.asarray(other)[tuple(slice(size) for size in one.shape)]
        np.testing.assert_allclose(other[valid], one[valid], rtol=2e-5, atol=2e-6)


def test_logits_are_the_readout_of_the_states(network, batch):
    model, params = network
    outputs, readout = model.apply(params, batch), model.readout(params)
    logits = outputs.states.decoder @ readout.decoder + readout.bias[None, None, :]
    if readout.context is not None:
        logits += outputs.states.context @ readout.context
    np.testing.assert_allclose(logits, outputs.logits, rtol=1e-5, atol=1e-5)


def test_attention_is_a_distribution_over_valid_positions(network, batch):
    model, params = network
    states = model.apply(params, batch).states
    if not MODELS[model.config.architecture].attends:
        assert states.attention is None
        return
    attention = np.asarray(states.attention)
    assert (attention[~np.broadcast_to(batch.encoder_mask[:, None, :], attention.shape)] == 0).all()
    np.testing.assert_allclose(attention.sum(axis=-1), 1.0, rtol=1e-6)
    scores = np.einsum("nsh,nth->nst", states.query, states.key)
    np.testing.assert_allclose(states.scores, scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", [KINDS[-2], KINDS[-1]], ids=label)
def test_queries_keys_and_values_are_the_states_or_their_projections(config, batch):
    model, params = built(config)
    states = model.apply(params, batch).states
    own = params.get("attention", {})
    assert own.keys() == ({"query_kernel", "key_kernel", "value_kernel"} if own else set())
    for name, source in (("query", "decoder"), ("key", "encoder"), ("value", "encoder")):
        matrix = own.get(f"{name}_kernel", np.eye(6))
        wanted = np.asarray(getattr(states, source)) @ np.asarray(matrix)
        np.testing.assert_allclose(getattr(states, name), wanted, rtol=1e-5, atol=1e-5)
    context = np.einsum("nst,nth->nsh", states.attention, states.value)
    np.testing.assert_allclose(states.context, context, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", [GRU, LSTM, KINDS[-1]], ids=label)
def test_greedy_writes_what_stepping_picks(config, batch):
    model, params = built(config)
    written = np.asarray(greedy(model, params, batch.encoder_words, 2 * LONGEST))
    memory = model.encode(params, batch.encoder_words)
    carry, done = memory.carry, np.zeros(len(written), bool)
    fed = np.concatenate([np.full((len(written), 1), BOS), written[:, :-1]], axis=1)
    for position, word in enumerate(fed.T):
        logits, carry = model.step(params, memory, carry, jnp.asarray(word), position)
        picked = np.where(done, PAD, np.argmax(logits, axis=-1))
        np.testing.assert_array_equal(written[:, position], picked)
        done |= picked == EOS


def test_greedy_ends_at_the_first_eos(batch):
    """A readout that likes EOS best, then words: EOS alone is written."""
    model, params = built(GRU)
    likes = jnp.arange(VOCABULARY, dtype=jnp.float32).at[EOS].set(99.0)
    eager = {**params, "readout_decoder": 0 * params["readout_decoder"], "readout_bias": likes}
    written = np.asarray(greedy(model, eager, batch.encoder_words, 3))
    np.testing.assert_array_equal(written, [[EOS, PAD, PAD]] * len(written))


@pytest.mark.parametrize(
    "config", [kind for kind in KINDS if kind.architecture == "aed"], ids=label
)
def test_aed_that_ignores_its_context_is_ved(config, batch):
    aed, params = built(config)
    ved, own = built(replace(config, architecture="ved", attention="dot"))
    shared = {name: params[name] for name in own}
    assert params.keys() - own.keys() <= {"readout_context", "attention"}
    deaf = params | {"readout_context": jnp.zeros_like(params["readout_context"])}
    ours, theirs = aed.apply(deaf, batch), ved.apply(shared, batch)
    np.testing.assert_allclose(ours.logits, theirs.logits, rtol=1e-6, atol=1e-6)
    assert np.abs(aed.apply(params, batch).logits - theirs.logits).max() > 0.01


def test_gru_networks_states_are_those_of_flax_gru_cell(batch):
    """The whole recurrence, word by word, from copied weights: the table, the mask, the start."""
    model, params = built(GRU)
    states = model.apply(params, batch).states
    cell = nn.GRUCell(6)
    carry = jnp.zeros((12, 6))
    for side, words, found in (
        ("encoder", batch.encoder_words, states.encoder),
        ("decoder", batch.decoder_words, states.decoder),
    ):
        own = params[side]
        w, b, u = (
            dict(zip("rzn", jnp.split(own[name], 3, axis=-1), strict=True))
            for name in ("input_kernel", "input_bias", "recurrent_kernel")
        )
        copied = {f"i{gate}": {"kernel": w[gate], "bias": b[gate]} for gate in "rzn"}
        copied |= {f"h{gate}": {"kernel": u[gate]} for gate in "rz"}
        copied["hn"] = {"kernel": u["n"], "bias": own["candidate_bias"]}
        step = jax.jit(lambda h, x, copied=copied: cell.apply({"params": copied}, h, x)[0])
        for place, word in enumerate(words.T):
            valid = np.asarray(word) != PAD
            carry = jnp.where(valid[:, None], step(carry, own["embedding"][word]), carry)
            np.testing.assert_allclose(found[valid, place], carry[valid], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("config", [GRU, LSTM], ids=label)
def test_decoder_starts_from_the_last_valid_encoder_state(config, batch):
    ved, params = built(config)
    memory = ved.encode(params, batch.encoder_words)
    last = np.asarray(batch.encoder_mask.sum(axis=1)) - 1
    np.testing.assert_array_equal(memory.carry[0], memory.states[np.arange(12), last])


def test_ao_knows_its_word_and_place_only(batch):
    ao, params = built(KINDS[-1])
    states = np.asarray(ao.apply(params, batch).states.encoder)
    words = np.asarray(batch.encoder_words)
    for t, word in itertools.product(range(LONGEST), range(VOCABULARY)):
        same = states[words[:, t] == word, t]
        assert (same == same[:1]).all()


def test_initial_weights_have_the_stated_scales():
    model = make_model(ModelConfig("aed", hidden_size=64), 200, 200)
    params = model.init(jax.random.key(0), 0.1)
    assert abs(float(params["encoder"]["embedding"].std()) - 0.1) < 0.003
    for gate in np.split(np.asarray(params["encoder"]["recurrent_kernel"]), 3, axis=1):
        np.testing.assert_allclose(gate.T @ gate, np.eye(64), atol=1e-5)
    for kernel in (params["encoder"]["input_kernel"], params["readout_context"]):
        assert abs(float(kernel.std()) - 1 / 8) < 0.005
    assert not np.array_equal(params["encoder"]["embedding"], params["decoder"]["embedding"])


def test_embedding_scale_changes_the_embeddings_alone():
    model = make_model(ModelConfig("aed", hidden_size=6), VOCABULARY, VOCABULARY)
    one, three = (model.init(jax.random.key(0), scale) for scale in (1.0, 3.0))
    for side in ("encoder", "decoder"):
        np.testing.assert_allclose(three[side].pop("embedding"), 3 * one[side].pop("embedding"))
    jax.tree.map(np.testing.assert_array_equal, one, three)


def test_unknown_architecture_names_the_nearest():
    with pytest.raises(InputError, match=r"model.architecture = 'ade' .*did you mean 'aed'"):
        make_model(ModelConfig("ade"), VOCABULARY, VOCABULARY)
