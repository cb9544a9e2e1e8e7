"""Files that somebody forged, with the right checksums: refused when they are loaded, or another model."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import arcrank
from arcrank.errors import ModelFileError
from arcrank.modelfile import read_card
from arcrank.text import HashedTextFeatures, TextFeatures
from tests.modelfile.models import MODELS, SETS, TEXTS, TOPICS, X
from tests.modelfile.mutants import signed, split


def forged(name, folder, change):
    """A path to the model of this name after change(manifest, arrays)."""
    path = folder / "model"
    arcrank.save(MODELS[name](), path)
    manifest, arrays = split(path.read_bytes())
    change(manifest, arrays)
    path.write_bytes(signed(manifest, arrays))
    return path


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        arcrank.load(path)
    return str(caught.value)


@pytest.mark.slow
def test_hundreds_of_mutants():
    # In a process of its own: forking is only safe where there are no other threads.
    command = [sys.executable, "-m", "tests.modelfile.mutants", "800"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    counts = json.loads(done.stdout)
    assert set(counts) == set(MODELS)
    assert {verdict for found in counts.values() for verdict in found} == {"refused", "valid"}


def put(name, place, value):
    def change(_, arrays):
        arrays[name].reshape(-1)[place] = value

    return change


@pytest.mark.parametrize(
    ("model", "change", "said"),
    [
        ("mmp", put("0/counters", 4, 2**40), "counters"),
        ("mmp", put("0/counters", 3, 0), "counters"),
        ("mmp", put("0/counters", 0, -1), "counters"),
        ("mmp average text", put("1/counters", 4, 7), "counters"),
        ("perceptron", put("1/counters", 4, 2**31), "counters"),
        ("mmp kernel", put("0/support_indices", 3, 2**30), "support_indices has numbers from 0 to 1073741824"),
        ("mmp kernel", put("0/support_indices", 3, -1), "support_indices"),
        ("mmp kernel", put("0/support_indices", slice(None), 0), "are not ascending"),
        ("mmp kernel", put("0/support_indptr", -1, 2**30), "CSR"),
        ("mmp kernel", put("0/support_indptr", 1, 40), "CSR"),
        ("mmp kernel", put("0/before", 0, 2**40), "rounds"),
        ("machine rbf sparse", put("0/support_vectors.indptr", 1, 30), "CSR"),
        ("machine precomputed", put("0/support", -1, 12), "support has numbers"),
        ("machine precomputed", put("0/support", 0, -1), "support has numbers"),
        ("rankboost", put("0/stumps.features", 0, 5), "stumps.features has numbers"),
        ("log-linear", put("0/weights", 0, np.nan), "weights has numbers from nan"),
        ("mmp mostly zero", put("1/weights.rows", 0, np.inf), "weights has numbers"),
        ("rocchio", put("1/weights", 0, 1e101), "weights has numbers"),
        ("tfidf", put("0/idf", 0, np.nan), "idf has numbers"),
        ("log-linear label features", put("0/label_weights", 0, np.inf), "label_weights has numbers"),
        ("rocchio", put("0/terms.ends", 0, -1), "outside"),
        ("papers", put("2/support", slice(None), 0), "support"),
        ("pivoted", put("2/support", slice(None), True), "features, but the next one reads"),
    ],
)
def test_numbers_that_index_or_weigh(model, change, said, tmp_path):
    assert said in refusal(forged(model, tmp_path, change))


def setting(part, kind, name, value):
    def change(manifest, _):
        manifest["parts"][part][kind][name] = value

    return change


def whole(name, value):
    def change(manifest, _):
        manifest[name] = value

    return change


def steps(*names):
    def change(manifest, _):
        for part, name in zip(manifest["parts"], names, strict=True):
            part["step"] = name

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (whole("learner", "mmp"), "learner"),
        (whole("labels", 4), "number of labels"),
        (whole("labels", None), "number of labels"),
        (whole("features", 10**9), "number of features"),
        (whole("pipeline", False), "without a pipeline"),
        (whole("pipeline", "yes"), "pipeline"),
        (whole("card", []), "card"),
        (whole("arcrank", 1), "version"),
        (steps("a", "a"), "same name"),
        (steps("a__b", "c"), "valid name"),
        (steps(1, "c"), "valid name"),
        (setting(1, "learnt", "kind", "candidates"), "kind"),
        (setting(1, "learnt", "x", 1), "has no learnt value 'x'"),
        (setting(1, "parameters", "delta", 1), "has no parameter 'delta'"),
        (setting(1, "learnt", "intercept", {"$array": "weights"}), "fit together"),
        (setting(0, "parameters", "input", "filename"), "the parameter input is 'filename'; it must be 'content'"),
        (setting(0, "parameters", "input", "file"), "input"),
        (setting(0, "parameters", "token_pattern", "(a+)+$"), "linear time"),
        (setting(0, "parameters", "token_pattern", None), "token_pattern"),
        (setting(0, "parameters", "encoding", "zlib"), "encoding"),
        (setting(0, "parameters", "encoding", "../x"), "encoding"),
        (setting(0, "parameters", "decode_error", "surrogateescape"), "decode_error"),
        (setting(0, "parameters", "analyzer", "verb"), "analyzer"),
        (setting(0, "parameters", "ngram_range", {"$tuple": [1, 10**9]}), "ngram_range"),
        (setting(0, "parameters", "stop_words", "french"), "stop_words"),
        (setting(0, "parameters", "dtype", {"$dtype": "<f2"}), "dtype"),
        (setting(0, "parameters", "tokenizer", "os.system"), "tokenizer"),
    ],
)
def test_a_manifest_that_contradicts_itself(change, said, tmp_path):
    path = forged("rocchio", tmp_path, change)
    assert said in refusal(path)


def test_a_card_of_a_forged_manifest(tmp_path):
    for change in (
        whole("learner", ["mmp"]),
        whole("labels", "many"),
        whole("card", {"$set": []}),
        whole("arcrank", 1),
    ):
        with pytest.raises(ModelFileError, match="do not fit together"):
            read_card(forged("rocchio", tmp_path, change))


def no_checksum(entries, _):
    del entries["1/weights"]["sha256"]


def endless(entries, places):
    for said in (entries, places):
        said["1/empty"] = {"dtype": "F64", "shape": [0, 2**70]}
    entries["1/empty"]["sha256"] = ""
    end = max(place["data_offsets"][1] for place in places.values() if "data_offsets" in place)
    places["1/empty"]["data_offsets"] = [end, end]


@pytest.mark.parametrize("change", [no_checksum, endless])
def test_arrays_that_the_manifest_does_not_describe(change, tmp_path):
    path = tmp_path / "model"
    arcrank.save(MODELS["rocchio"](), path)
    path.write_bytes(signed(*split(path.read_bytes()), change))
    assert "does not say what its arrays are" in refusal(path)


def test_two_values_do_not_share_an_array(tmp_path):
    def change(manifest, arrays):
        manifest["parts"][1]["learnt"]["late"] = manifest["parts"][1]["learnt"]["weights"]
        for name in [name for name in arrays if name.startswith("1/late")]:
            del arrays[name]

    assert "fit together" in refusal(forged("mmp average text", tmp_path, change))


@pytest.mark.parametrize("length", [2**27, 2**40, 2**62])
def test_a_small_file_claims_no_memory(length, tmp_path):
    """All that it says agrees: the features of the text, of the ranker and of the manifest."""

    def change(manifest, _):
        manifest["features"] = manifest["parts"][0]["parameters"]["n_features"] = length
        learnt = manifest["parts"][1]["learnt"]
        learnt["n_features"] = learnt["weights"]["length"] = learnt["late"]["length"] = length

    path = forged("mmp mostly zero", tmp_path, change)
    tracemalloc.start()
    try:
        assert "67,108,864" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_length_of_its_own_is_refused_before_the_matrix_is_made(tmp_path):
    def change(manifest, _):
        manifest["parts"][1]["learnt"]["weights"]["length"] = 2**40

    assert "weights is a matrix of shape (1099511627776, 3)" in refusal(forged("mmp mostly zero", tmp_path, change))


def test_more_weights_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("arcrank.modelfile.rows._memory", lambda: 100_000.0)
    path = forged("mmp mostly zero", tmp_path, lambda *_: None)
    assert "larger machine" in refusal(path)


@pytest.mark.parametrize("learner", ["rocchio", "mmp", "log-linear dual text"])
@pytest.mark.parametrize("name", ["", "a\0", "\0"])
def test_labels_that_cannot_be_shown(learner, name, tmp_path):
    model = MODELS[learner]()
    ranker = model[-1] if hasattr(model, "steps") else model
    ranker.labels_ = np.array([name, "b", "c"], dtype=object)
    with pytest.raises(ModelFileError, match=r"Ranker cannot be saved: labels holds the name .* must not be empty"):
        arcrank.save(model, tmp_path / "model")

    def change(_, arrays):
        raw = name.encode() + b"bc"
        part = "1/" if hasattr(model, "steps") else "0/"
        arrays[f"{part}labels.bytes"] = np.frombuffer(raw, dtype=np.uint8)
        arrays[f"{part}labels.ends"] = np.array([len(name), len(raw) - 1, len(raw)])

    assert "must not be empty or hold a NUL" in refusal(forged(learner, tmp_path, change))


def twice(_, arrays):
    arrays["1/labels.bytes"] = np.frombuffer(b"oiloilship", dtype=np.uint8)
    arrays["1/labels.ends"] = np.array([3, 6, 10])


def terms_twice(_, arrays):
    arrays["0/terms.bytes"][:] = ord("a")
    arrays["0/terms.ends"][:] = arrays["0/terms.ends"][-1]


@pytest.mark.parametrize("change", [twice, terms_twice])
def test_names_that_are_there_twice(change, tmp_path):
    assert "holds a name twice" in refusal(forged("rocchio", tmp_path, change))


class TestSaving:
    """What could not be loaded is not saved, and the error says what to do."""

    @pytest.mark.parametrize(
        ("vectorizer", "said"),
        [
            (CountVectorizer(token_pattern=r"(?:\w+\s?)+;?"), "token_pattern is .* proven to take linear time.* e.g. "),
            (CountVectorizer(encoding="zlib"), "encoding is 'zlib'; .*text encodings"),
            (TfidfVectorizer(ngram_range=(1, 101)), "ngram_range"),
            (HashingVectorizer(n_features=2**27), "n_features is 134217728; .* from 1 to 67,108,864"),
            (HashedTextFeatures(ngrams=101), "ngrams"),
            (TextFeatures(min_df=1, ngrams=200), "ngrams"),
        ],
    )
    def test_parameters(self, vectorizer, said, tmp_path):
        small = {"n_features": 64} if isinstance(vectorizer, HashingVectorizer) else {}  # weights of 2**27 take seconds
        parameters = vectorizer.get_params()
        model = make_pipeline(vectorizer.set_params(**small), arcrank.RocchioRanker()).fit(TEXTS, TOPICS)
        vectorizer.set_params(**parameters)
        with pytest.raises(ModelFileError, match=f"{type(vectorizer).__name__} cannot be saved: .*{said}"):
            arcrank.save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_files_as_input(self, tmp_path):
        for name in (tmp_path / "a", tmp_path / "b"):
            name.write_text("oil and wheat")
        model = make_pipeline(CountVectorizer(input="filename"), arcrank.RocchioRanker())
        model.fit([tmp_path / "a", tmp_path / "b"], ["x", "y"])
        with pytest.raises(ModelFileError, match="input is 'filename'; it must be 'content'"):
            arcrank.save(model, tmp_path / "model")

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e101])
    def test_weights(self, value, tmp_path):
        ranker = arcrank.RocchioRanker().fit(X, SETS)
        ranker.coef_[0, 0] = value
        with pytest.raises(ModelFileError, match=r"RocchioRanker cannot be saved: weights has numbers .* -1e\+100"):
            arcrank.save(ranker, tmp_path / "model")

    def test_powers_that_are_not_whole(self, tmp_path):
        machine = arcrank.PreferenceMachine(kernel="polynomial", degree=2.5).fit(abs(X), SETS)
        with pytest.raises(ModelFileError, match="degree of a polynomial kernel is 2.5; it must be a whole number"):
            arcrank.save(machine, tmp_path / "model")

    def test_parts_that_do_not_fit(self, tmp_path):
        model = MODELS["rocchio"]()
        model.steps[-1] = ("r", arcrank.RocchioRanker().fit(X, SETS))
        with pytest.raises(ModelFileError, match="produces .* features, but the next one reads 5"):
            arcrank.save(model, tmp_path / "model")

    @pytest.mark.parametrize(
        "ranker",
        [
            arcrank.PreferenceMachine(codes=[[1, 0], [0, 1], [1, 1]], random_state=0),
            arcrank.PreferenceMachine(codes="one-vs-one", C=np.float64(2), max_iter=np.int64(50), verbose=False),
            arcrank.PreferenceMachine(kernel="polynomial", degree=np.int64(2), gamma=np.float32(0.5)),
            arcrank.LogLinearRanker(fit_intercept=np.bool_(True), max_iter=1e3, random_state=np.int64(3)),
            arcrank.MMPRanker(kernel="poly", degree=2.0, gamma=np.float64(0.3), average=1),
            arcrank.SemiSupervisedRankBoost(2, discount=[0.5] * 12, thresholds=np.int64(3)),
            arcrank.RankBoost(2, thresholds=3),
        ],
        ids=str,
    )
    def test_parameters_as_people_write_them(self, ranker, tmp_path):
        ranker.fit(X, SETS if hasattr(ranker, "rank") else [1, 0, -1] * 4)
        arcrank.save(ranker, tmp_path / "model")
        assert type(arcrank.load(tmp_path / "model")) is type(ranker)

    @pytest.mark.parametrize(
        "vectorizer",
        [
            CountVectorizer(analyzer="char", ngram_range=(2, 4), token_pattern=None),
            CountVectorizer(token_pattern=r"(?u)\b[^\d\W]+\b", encoding="latin-1", dtype=np.uint8),
            TfidfVectorizer(token_pattern="[A-Za-z]{3,}", dtype=np.float32, max_df=0.9, min_df=1),
            HashingVectorizer(n_features=2**10, alternate_sign=False, norm=None, stop_words="english"),
            TextFeatures(min_df=1, stem="french", stop_words={"the", "of"}),
        ],
    )
    def test_what_is_usual(self, vectorizer, tmp_path):
        model = make_pipeline(vectorizer, arcrank.RocchioRanker()).fit(TEXTS, TOPICS)
        arcrank.save(model, tmp_path / "model")
        loaded = arcrank.load(tmp_path / "model")
        assert (loaded[0].transform(TEXTS) != model[0].transform(TEXTS)).nnz == 0
        assert (
            loaded[-1].rank(loaded[0].transform(TEXTS)).tolist() == model[-1].rank(model[0].transform(TEXTS)).tolist()
        )
