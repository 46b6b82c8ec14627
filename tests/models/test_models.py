"""Properties of every architecture, over the tables."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.models import MODELS, make_model
from aedjax.models.cells import CELLS
from aedjax.models.config import ModelConfig
from aedjax.models.decoding import greedy
from aedjax.types import EOS, PAD, Batch

from .conftest import LONGEST, VOCABULARY

KINDS = [
    ModelConfig("ved", "gru", hidden_size=6),
    *(ModelConfig("aed", cell, hidden_size=6) for cell in CELLS),
    ModelConfig("aed", "gru", "learned", hidden_size=6, embedding_size=4),
    ModelConfig("ao", attention="dot", hidden_size=6, embedding_size=4),
    ModelConfig("ao", attention="learned", hidden_size=6),
]


def label(config: ModelConfig) -> str:
    return f"{config.architecture}-{config.cell}-{config.attention}"


@pytest.fixture(scope="session", params=KINDS, ids=label)
def network(request):
    model = make_model(request.param, VOCABULARY, VOCABULARY)
    return model, jax.jit(model.init)(jax.random.key(3), 1.0), jax.jit(model.apply)


def test_teacher_forcing_is_stepping_fed_the_targets(network, batch):
    model, params, apply = network
    forced = apply(params, batch).logits
    memory = model.encode(params, batch.encoder_words)
    carry, stepped, one = memory.carry, [], jax.jit(model.step)
    for position, word in enumerate(batch.decoder_words.T):
        logits, carry = one(params, memory, carry, word, position)
        stepped.append(logits)
    stepped = np.stack(stepped, axis=1)
    for n, length in enumerate(np.asarray(batch.decoder_mask.sum(axis=1))):
        np.testing.assert_allclose(stepped[n, :length], forced[n, :length], rtol=2e-5, atol=2e-6)


def test_padding_changes_nothing(network, batch):
    _, params, apply = network
    wider = Batch(*(jnp.pad(words, ((0, 0), (0, 3))) for words in batch[:3]), None)
    short, long = apply(params, batch), apply(params, wider)
    mask = np.asarray(batch.decoder_mask)
    np.testing.assert_allclose(
        np.asarray(long.logits)[:, :LONGEST][mask],
        np.asarray(short.logits)[mask],
        rtol=2e-5,
        atol=2e-6,
    )


def test_logits_are_the_readout_of_the_states(network, batch):
    model, params, apply = network
    outputs, readout = apply(params, batch), model.readout(params)
    logits = outputs.states.decoder @ readout.decoder + readout.bias[None, None, :]
    if readout.context is not None:
        logits += outputs.states.context @ readout.context
    np.testing.assert_allclose(logits, outputs.logits, rtol=1e-5, atol=1e-5)


def test_attention_is_a_distribution_over_valid_positions(network, batch):
    model, params, apply = network
    states = apply(params, batch).states
    if not MODELS[model.config.architecture].attends:
        assert states.attention is None
        return
    attention = np.asarray(states.attention)
    assert (attention[~np.broadcast_to(batch.encoder_mask[:, None, :], attention.shape)] == 0).all()
    np.testing.assert_allclose(attention.sum(axis=-1), 1.0, rtol=1e-6)
    scores = np.einsum("nsh,nth->nst", states.query, states.key)
    np.testing.assert_allclose(states.scores, scores, rtol=1e-4, atol=1e-5)


def test_greedy_writes_what_stepping_picks(network, batch):
    model, params, _ = network
    written = np.asarray(greedy(model, params, batch.encoder_words, 2 * LONGEST))
    memory = model.encode(params, batch.encoder_words)
    for n in range(3):
        ours = written[n]
        ends = np.flatnonzero(ours == EOS)
        if ends.size:
            assert (ours[ends[0] + 1 :] == PAD).all()
        fed = jnp.concatenate([jnp.array([1]), written[n, :-1]])
        carry = jax.tree.map(lambda leaf, n=n: leaf[n : n + 1], memory.carry)
        one = jax.tree.map(lambda leaf, n=n: leaf[n : n + 1], memory)
        for position in range(int(ends[0]) + 1 if ends.size else 2 * LONGEST):
            word = fed[position : position + 1]
            logits, carry = model.step(params, one, carry, word, position)
            assert int(jnp.argmax(logits[0])) == ours[position]


def test_aed_that_ignores_its_context_is_ved(batch):
    aed = make_model(ModelConfig("aed", hidden_size=6), VOCABULARY, VOCABULARY)
    ved = make_model(ModelConfig("ved", hidden_size=6), VOCABULARY, VOCABULARY)
    params = aed.init(jax.random.key(0), 1.0)
    params["readout_context"] = jnp.zeros_like(params["readout_context"])
    shared = {name: leaf for name, leaf in params.items() if name != "readout_context"}
    np.testing.assert_array_equal(aed.apply(params, batch).logits, ved.apply(shared, batch).logits)


def test_decoder_starts_from_the_last_valid_encoder_state(batch):
    ved = make_model(ModelConfig("ved", hidden_size=6), VOCABULARY, VOCABULARY)
    params = ved.init(jax.random.key(0), 1.0)
    memory = ved.encode(params, batch.encoder_words)
    last = np.asarray(batch.encoder_mask.sum(axis=1)) - 1
    np.testing.assert_array_equal(memory.carry[0], memory.states[np.arange(12), last])


def test_ao_knows_its_word_and_place_only(batch):
    ao = make_model(ModelConfig("ao", hidden_size=6), VOCABULARY, VOCABULARY)
    params = ao.init(jax.random.key(0), 1.0)
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
