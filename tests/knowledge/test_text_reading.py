"""What running text says of the graph, read by rules: facts, names, deaths and dates in three
languages; and what is not read."""

import pytest

from bench.proposals import read_passage


def read(text: str, *known: str) -> list[dict[str, str]]:
    return read_passage({"lang": "", "text": text, "known": list(known)})


def facts(text: str, *known: str) -> set[tuple[str, str, str]]:
    lines = (line for line in read(text, *known) if line["kind"] == "fact")
    return {(line["src"], line["label"] or line["relation"], line["dst"]) for line in lines}


def new(text: str, *known: str) -> dict[str, str]:
    lines = (line for line in read(text, *known) if line["kind"] == "new")
    return {line["name"]: line["entity_kind"] for line in lines}


def of_kind(kind: str, text: str, *known: str) -> set[tuple[str, str]]:
    value = {"alias": "alias", "death": "value", "date": "value"}[kind]
    lines = (line for line in read(text, *known) if line["kind"] == kind)
    return {(line["entity"], line[value]) for line in lines}


PEOPLE = ("Marta Quill (Character)", "Joss Arden (Character)", "the Saltmen (Faction)")
ЛЮДИ = ("Марфа Зимина (Character)", "Егор Дол (Character)", "Речная стража (Faction)")
사람들 = ("오다 렌 (Character)", "브람 (Character)", "강 수비대 (Faction)")


@pytest.mark.parametrize(
    ("text", "known", "fact"),
    [
        (
            "Marta Quill, a quiet woman, leads the Saltmen.",
            PEOPLE,
            ("Marta Quill", "leads", "the Saltmen"),
        ),
        (
            "The Saltmen fear nobody. They are led by Joss Arden. Her days are long. "
            "Marta Quill's brother Joss Arden drinks.",
            PEOPLE,
            ("Joss Arden", "brother of", "Marta Quill"),
        ),
        (
            "Егор Дол служит в Речной страже и ненавидит Марфу Зимину.",
            ЛЮДИ,
            ("Егор Дол", "ENEMY_OF", "Марфа Зимина"),
        ),
        (
            "Её брат Егор Дол возглавляет Речную стражу.",
            ЛЮДИ,
            ("Егор Дол", "leads", "Речная стража"),
        ),
        ("오다 렌의 오빠 브람은 강 수비대에 속해 있다.", 사람들, ("브람", "PART_OF", "강 수비대")),
        ("강 수비대는 오다 렌이 이끈다.", 사람들, ("오다 렌", "leads", "강 수비대")),
    ],
)
def test_a_sentence_states_a_fact(
    text: str, known: tuple[str, ...], fact: tuple[str, str, str]
) -> None:
    ends = {(fact[0], fact[2]), (fact[2], fact[0])}
    found = {(label, (src, dst)) for src, label, dst in facts(text, *known)}
    assert any(label == fact[1] and pair in ends for label, pair in found)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("If Marta Quill leads the Saltmen, we are lost.", PEOPLE),
        ("Marta Quill does not lead the Saltmen.", PEOPLE),
        ("Rumour says that Marta Quill leads the Saltmen.", PEOPLE),
        ("Does Marta Quill lead the Saltmen?", PEOPLE),
        ("Marta Quill once led the Saltmen.", PEOPLE),
        ("Говорят, Егор Дол возглавляет Речную стражу.", ЛЮДИ),
        ("Егор Дол больше не служит в Речной страже.", ЛЮДИ),
        ("브람은 강 수비대에 속해 있지 않다.", 사람들),
        ("브람이 강 수비대에 속해 있다면 큰일이다.", 사람들),
    ],
)
def test_what_is_supposed_denied_or_past_is_no_fact(text: str, known: tuple[str, ...]) -> None:
    assert facts(text, *known) == set()


def test_a_pronoun_is_the_person_of_the_sentence_before() -> None:
    text = "Queen Marta Quill sat down. She leads the Saltmen, and her brother is Joss Arden."
    assert ("Marta Quill", "leads", "the Saltmen") in facts(text, *PEOPLE)
    assert ("Joss Arden", "brother of", "Marta Quill") in facts(text, *PEOPLE)


def test_new_names_have_the_kind_that_the_words_beside_them_tell() -> None:
    assert new("The miller Oda Renn lives in the village of Thornwick.") == {
        "Oda Renn": "Character",
        "Thornwick": "Location",
    }
    assert new("Город Ларн основал князь Мстислав Долгий.") == {
        "Ларн": "Location",
        "Мстислав Долгий": "Character",
    }
    assert new("라른 마을의 촌장 오다 렌은 말이 없다.") == {
        "라른": "Location",
        "오다 렌": "Character",
    }


def test_a_russian_name_is_proposed_in_the_nominative() -> None:
    assert "Теодор Ланц" in new("Библиотека основана архивариусом Теодором Ланцем.")
    assert "Агния Бурая" in new("Мы спросили о вдове Агнии Бурой.")


def test_other_names_are_aliases() -> None:
    assert of_kind("alias", "Joss Arden, also known as the Red Heron, sings.", *PEOPLE) == {
        ("Joss Arden", "Red Heron")
    }
    assert of_kind("alias", "Егор Дол, по прозвищу Сорока, поёт.", *ЛЮДИ) == {
        ("Егор Дол", "Сорока")
    }
    assert of_kind("alias", "붉은 왜가리라고도 불리는 브람은 노래한다.", *사람들) == {
        ("브람", "붉은 왜가리")
    }


def test_deaths_and_births_have_their_date() -> None:
    text = "Joss Arden was born in 341 and died in 402."
    assert of_kind("death", text, *PEOPLE) == {("Joss Arden", "402")}
    assert ("Joss Arden", "341") in of_kind("date", text, *PEOPLE)
    assert of_kind("death", "Егор Дол погиб на переправе.", *ЛЮДИ) == {("Егор Дол", "")}
    assert of_kind("death", "브람은 지난겨울에 살해당했다.", *사람들) == {("브람", "")}


@pytest.mark.parametrize(
    "text",
    ["Joss Arden nearly died.", "Joss Arden killed a man.", "They wanted Joss Arden dead."],
)
def test_a_brush_with_death_is_none(text: str) -> None:
    assert of_kind("death", text, *PEOPLE) == set()


def test_every_sentence_that_is_quoted_is_in_the_text() -> None:
    text = "# Salt\n\n- Marta Quill leads the Saltmen.\n- **Joss Arden** is her brother. He died."
    for line in read(text, *PEOPLE):
        assert line["quote"] in text
