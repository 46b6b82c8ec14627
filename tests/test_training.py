"""Training one member: the update, its stretches, its data, divergence."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aedjax.losses import cross_entropy
from aedjax.models import make_model
from aedjax.models.config import ModelConfig
from aedjax.training import MemberKeys, TrainConfig, make_train
from aedjax.types import BOS, EOS, Batch

VOCABULARY, LENGTH = 7, 4


def draw(data, key, n) -> Batch:
    """Copy four words; `data` is not needed."""
    words = jax.random.randint(key, (n, LENGTH), 4, VOCABULARY)
    words = jnp.pad(words, ((0, 0), (0, 1)), constant_values=EOS)
    decoder = jnp.pad(words[:, :-1], ((0, 0), (1, 0)), constant_values=BOS)
    return Batch(words, decoder, words, None)


SETTINGS = {
    "learning_rate": 0.01,
    "learning_rate_decay": 0.99,
    "weight_decay": 0.1,
    "clip_norm": 0.5,
    "embedding_scale": 0.1,
}
HYPERPARAMETERS = {name: jnp.float32(value) for name, value in SETTINGS.items()}
KEYS = MemberKeys(jax.random.key(0), jax.random.key(1))


@pytest.fixture(scope="session")
def model():
    return make_model(ModelConfig("aed", hidden_size=8), VOCABULARY, VOCABULARY)


@pytest.fixture(scope="session")
def train(model):
    start, advance = make_train(TrainConfig(batch_size=16), draw, model)
    return jax.jit(start), jax.jit(advance)


def test_update_is_adamw_on_clipped_gradients(model, train):
    start, advance = train
    state = start(KEYS, HYPERPARAMETERS)
    schedule = optax.exponential_decay(
        SETTINGS["learning_rate"], 1, SETTINGS["learning_rate_decay"]
    )
    theirs = optax.chain(
        optax.clip_by_global_norm(SETTINGS["clip_norm"]),
        optax.adamw(schedule, weight_decay=SETTINGS["weight_decay"]),
    )
    params, moments = state.params, theirs.init(state.params)

    @jax.jit
    def their_step(params, moments, step):
        batch = draw((), jax.random.fold_in(KEYS.data, step), 16)

        def loss(params):
            return cross_entropy(
                model.apply(params, batch).logits, batch.targets, batch.decoder_mask
            )

        updates, moments = theirs.update(jax.grad(loss)(params), moments, params)
        return optax.apply_updates(params, updates), moments

    for step in range(5):
        params, moments = their_step(params, moments, step)
    ours = advance(state, KEYS, HYPERPARAMETERS, (), 5).params
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), ours, params)


def test_stretches_compose_bit_for_bit(train):
    start, advance = train
    state = start(KEYS, HYPERPARAMETERS)
    whole = advance(state, KEYS, HYPERPARAMETERS, (), 10)
    for until in (1, 4, 4, 10):
        state = advance(state, KEYS, HYPERPARAMETERS, (), until)
    jax.tree.map(np.testing.assert_array_equal, whole, state)
    assert int(whole.step) == 10


def test_it_learns(model, train):
    start, advance = train
    plain = {"learning_rate_decay": 1.0, "weight_decay": 0.0, "clip_norm": 1.0}
    hyperparameters = HYPERPARAMETERS | {name: jnp.float32(value) for name, value in plain.items()}
    state = advance(start(KEYS, hyperparameters), KEYS, hyperparameters, (), 600)
    batch = draw((), jax.random.key(9), 64)
    logits = model.apply(state.params, batch).logits
    assert float(jnp.mean(jnp.argmax(logits, axis=-1) == batch.targets)) > 0.95
    assert int(state.diverged_at) == -1


def test_divergence_is_dated(train):
    start, advance = train
    hyperparameters = HYPERPARAMETERS | {"learning_rate": jnp.float32(1e30)}
    state = advance(start(KEYS, hyperparameters), KEYS, hyperparameters, (), 6)
    assert 1 <= int(state.diverged_at) <= 5
    assert int(state.step) == 6


def test_learning_rate_leaves_the_start_alone_and_seeds_do_not(train):
    start, _ = train
    faster = HYPERPARAMETERS | {"learning_rate": jnp.float32(0.1)}
    one = start(KEYS, HYPERPARAMETERS)
    jax.tree.map(np.testing.assert_array_equal, one, start(KEYS, faster))
    other = start(MemberKeys(jax.random.key(0), jax.random.key(2)), HYPERPARAMETERS)
    assert not np.array_equal(one.params["readout_decoder"], other.params["readout_decoder"])


def test_the_start_needs_one_key_and_the_training_the_other(train):
    start, advance = train
    state = start(KEYS, HYPERPARAMETERS)
    other_data, other_init = (KEYS._replace(**{k: jax.random.key(7)}) for k in ("data", "init"))
    jax.tree.map(np.testing.assert_array_equal, state, start(other_data, HYPERPARAMETERS))
    after = [
        advance(state, keys, HYPERPARAMETERS, (), 3) for keys in (KEYS, other_init, other_data)
    ]
    jax.tree.map(np.testing.assert_array_equal, after[0], after[1])
    assert not np.array_equal(after[0].params["readout_bias"], after[2].params["readout_bias"])


def test_the_same_seed_twice_is_identical(model, train):
    start, advance = train
    once = advance(start(KEYS, HYPERPARAMETERS), KEYS, HYPERPARAMETERS, (), 5)
    fresh_start, fresh_advance = make_train(TrainConfig(batch_size=16), draw, model)
    state = jax.jit(fresh_start)(KEYS, HYPERPARAMETERS)
    again = jax.jit(fresh_advance)(state, KEYS, HYPERPARAMETERS, (), 5)
    jax.tree.map(np.testing.assert_array_equal, once, again)


def test_mapping_over_members_equals_a_loop(train):
    start, advance = train
    members = [
        (
            MemberKeys(jax.random.key(k), jax.random.key(9 - k)),
            HYPERPARAMETERS | {"learning_rate": r},
        )
        for k, r in ((0, jnp.float32(0.01)), (1, jnp.float32(0.003)))
    ]
    keys, hyperparameters = jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)

    @jax.jit
    @jax.vmap
    def together(keys, hyperparameters):
        return advance(start(keys, hyperparameters), keys, hyperparameters, (), 4)

    params = together(keys, hyperparameters).params
    for k, member in enumerate(members):
        alone = advance(start(*member), *member, (), 4).params
        jax.tree.map(
            lambda a, b, k=k: np.testing.assert_allclose(a[k], b, rtol=1e-3, atol=1e-5),
            params,
            alone,
        )


def test_bfloat16_trains_in_bfloat16_and_keeps_float32_parameters(model):
    start, advance = make_train(TrainConfig(batch_size=16, dtype="bfloat16"), draw, model)
    state = jax.jit(start)(KEYS, HYPERPARAMETERS)
    after = jax.jit(advance)(state, KEYS, HYPERPARAMETERS, (), 20)
    leaves = jax.tree.leaves(after.params)
    assert all(leaf.dtype == jnp.float32 and bool(jnp.isfinite(leaf).all()) for leaf in leaves)
    assert not np.array_equal(after.params["readout_decoder"], state.params["readout_decoder"])
