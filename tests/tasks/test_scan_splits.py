"""The splits of SCAN against the published files."""

import gzip

import pytest

from aedjax.tasks.scan_grammar import generate
from aedjax.tasks.scan_splits import SPLITS, shuffled
from tests.tasks.conftest import SHARED_SCAN
from tests.tasks.test_scan_grammar import checksum, lines

PUBLISHED = {
    "length": ((16_990, "114e6bdb1575f27d"), (3_920, "45bb5e5f0e0678da")),
    "addprim_jump": ((14_670, "1e5ab3357dc95826"), (7_706, "48956239771e67de")),
    "addprim_turn_left": ((21_890, "4f1ccb48ec39aed7"), (1_208, "81acae1af5137165")),
}
"""Lines and checksums of the published training and test files."""
SIMPLE = ((16_728, "8edfe28c982a549b"), (4_182, "4789ebc40825199a"))
"""Of our own split: its numbers are the published ones, its commands are not."""


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("part", [0, 1], ids=["train", "test"])
def test_published_splits_are_reproduced_as_multisets(name, part):
    path = SHARED_SCAN / f"tasks_{('train', 'test')[part]}_{name}.txt.gz"
    if not path.exists():
        pytest.skip("the published splits are not here; counts and checksums stand in")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        assert lines(SPLITS[name]()[part]) == sorted(file.read().splitlines())


@pytest.mark.parametrize("name", SPLITS)
def test_counts_and_checksums(name):
    expected = {**PUBLISHED, "simple": SIMPLE}[name]
    assert tuple((len(part), checksum(part)) for part in SPLITS[name]()) == expected


@pytest.mark.parametrize("name", SPLITS)
def test_training_and_test_share_nothing_and_cover_everything(name):
    train, test = map(set, SPLITS[name]())
    assert not train & test
    assert train | test == set(generate())


def test_the_shuffled_order_depends_on_the_text_alone():
    some = list(generate()[:50])
    assert shuffled(some) == shuffled(some[::-1])
    assert shuffled(some) != some
    assert sorted(shuffled(some)) == sorted(some)


def test_repeats_spread_over_the_shuffled_order():
    repeated, others = generate()[0], list(generate()[1:101])
    order = shuffled([repeated] * 100 + others)
    assert 30 < order[:100].count(repeated) < 70
