"""The language of texts, and the stems and stop words that follow from it."""

from __future__ import annotations

import pytest
import Stemmer

from arcrank.errors import ParameterError
from arcrank.text import HashedTextFeatures, TextFeatures, detect_language
from arcrank.text.function_words import FUNCTION_WORDS

SENTENCES = {
    "danish": "Regeringen har besluttet, at der skal bygges flere boliger i de store byer, og det er ikke for sent",
    "dutch": "De regering heeft besloten dat er in de grote steden meer woningen worden gebouwd",
    "english": "The government has decided that more houses will be built in the large cities, but it is not enough",
    "finnish": "Hallitus on päättänyt, että asuntoja rakennetaan lisää, mutta se ei ole riittävästi",
    "french": "Le gouvernement a décidé que des logements seront construits dans les grandes villes",
    "german": "Die Regierung hat beschlossen, dass in den großen Städten mehr Wohnungen gebaut werden",
    "italian": "Il governo ha deciso che si costruiranno più case nelle grandi città, ma non è abbastanza per la gente",
    "norwegian": "Regjeringen har bestemt at det skal bygges boliger i de store byene, men dette er ikke nok av dem",
    "polish": "Rząd zdecydował, że w dużych miastach powstanie więcej mieszkań, ale to nie jest dla nich się nie da",
    "portuguese": "O governo decidiu que mais casas serão construídas nas grandes cidades, mas não é o bastante",
    "russian": "Правительство решило, что в больших городах построят больше жилья, но это не все, и он так сказал",
    "spanish": "El gobierno ha decidido que se construyan más casas en las grandes ciudades, pero no es suficiente",
    "swedish": "Regeringen har beslutat att det ska byggas fler bostäder i de stora städerna, men det är inte nog",
    "turkish": "Hükümet büyük şehirlerde daha çok ev yapılması için bir karar aldı ve bu da çok değil, ama ne kadar",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_language_is_recognised(language):
    assert detect_language([SENTENCES[language]] * 2).language == language


@pytest.mark.parametrize("texts", [[], ["", ""], ["oil"], ["de la"], ["x y z"] * 50, ["z o"] * 50, ["東京 株価"] * 50])
def test_without_evidence_the_language_is_english(texts):
    assert detect_language(texts).language == "english"


def test_every_language_of_the_stemmer_has_a_list_of_similar_length():
    assert set(FUNCTION_WORDS) >= set(Stemmer.algorithms()) - {"porter", "dutch_porter"}
    lengths = {name: len(words) for name, words in FUNCTION_WORDS.items()}
    assert {name: length for name, length in lengths.items() if not 20 <= length <= 50} == {}


def test_features_take_stems_and_stop_words_of_the_language():
    texts = ["Die Häuser der Stadt und das Haus", "Ein Haus mit dem Garten ist nicht in der Stadt", "und die Häuser"]
    features = TextFeatures(min_df=1, ngrams=1).fit(texts)
    assert features.language_ == "german"
    assert features.terms_ == ["gart", "haus", "stadt"]
    english = TextFeatures(min_df=1, ngrams=1, language="english").fit(texts)
    assert english.language_ == "english"
    assert {"häuser", "hau", "der"} <= set(english.terms_)
    assert "häuser" in TextFeatures(min_df=1, ngrams=1, language=None).fit(texts).terms_
    assert "der" in TextFeatures(min_df=1, stop_words=None).fit(texts).terms_
    assert "häuser" in TextFeatures(min_df=1, stem=False).fit(texts).terms_


def test_a_stream_is_in_a_given_language():
    assert HashedTextFeatures(language="german").make_tokenizer()("Die Häuser") == ["haus"]
    with pytest.raises(ParameterError, match="stream"):
        HashedTextFeatures(language="auto").fit()
    with pytest.raises(ParameterError, match="language must be one of 'auto'"):
        TextFeatures(language="klingon").fit(["oil"])


def test_states_of_earlier_versions_are_english():
    state = TextFeatures(min_df=1).fit(["the oils", "oil"]).get_state()
    del state["language"], state["parameters"]["language"]
    restored = TextFeatures.from_state(state)
    assert restored.language_ == "english"
    assert restored.transform(["the oils"]).nnz == 1
