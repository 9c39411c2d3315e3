"""What is proposed from a report by rules: names in three languages, changes of mind, secrets,
dates, loose ends; and what is never guessed."""

import pytest

from episodes.models import Episode, Session
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.models import Lore
from memory_site.session_reports.proposal import Proposal
from memory_site.session_reports.propose import Report, propose_by_rules
from memory_site.session_reports.read_with_model import propose
from memory_site.session_reports.sentences import LONGEST_REPORT
from npcs.models import NPC, DispositionChange
from retrieval.errors import Invalid
from tests.cast import create_npc
from tests.loopback import Loopback, answer_json, status
from worlds.models import Reveal, World

pytestmark = pytest.mark.django_db


def read(session: Session, text: str) -> Proposal:
    assert session.party
    return propose_by_rules(Report(session.party, text))


def people(proposal: Proposal) -> dict[str, bool]:
    """Those who are certain, and whether they were there."""
    return {
        line.candidates[0].ref: line.present
        for line in proposal.people
        if len(line.candidates) == 1
    }


@pytest.mark.parametrize(
    "text",
    [
        "Mira waited at the Lower Landing. Later we went to the Toll House with Jory Fenn.",
        "Мира ждала на Нижней пристани. Потом мы пошли с Джори на Мытный двор.",
        "미라가 아래 나루에서 기다렸다. 나중에 조리와 통행세관으로 갔다.",
    ],
)
def test_people_and_places_are_recognised_in_three_languages(table: Session, text: str) -> None:
    proposal = read(table, text)
    assert people(proposal) == {"mira-voss": True, "jory-fenn": True}
    places = {line.candidates[0].ref for line in proposal.places}
    assert places == {"lower-landing", "toll-house"}
    assert proposal.where in places


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We met Mira Kerr at the gate.", []),
        ("We met Mira at the gate, and Mira Kerr left.", ["mira-voss"]),
        ("We met Mira Jory and the guard.", ["mira-voss", "jory-fenn"]),
        ("Captain Mira thanked us.", ["mira-voss"]),
    ],
)
def test_part_of_a_name_before_another_capitalized_word_is_somebody_else(
    table: Session, text: str, named: list[str]
) -> None:
    assert list(people(read(table, text))) == named


def test_the_part_of_a_title_in_quotation_marks_is_a_name(table: Session, world: World) -> None:
    title = {"title": "Трактир «Три карася»", "slug": "three-carps"}
    save_entry(Lore(world=world, kind="place", status="published", visibility="public", **title))
    places = read(table, "Вечером мы сидели в трактире. Потом «три карася» закрыли.").places
    assert "three-carps" in {each.candidates[0].ref for each in places}


def test_a_name_that_fits_several_is_a_choice(table: Session) -> None:
    (line,) = read(table, "In the evening Voss came and paid.").people
    assert {each.ref for each in line.candidates} == {"mira-voss", "ida-voss"}


def test_a_name_in_a_script_that_the_world_does_not_write_is_recognised(
    table: Session, world: World
) -> None:
    create_npc(world, slug="wat-orl", name="Borin Dag", visibility="public")
    assert "wat-orl" in people(read(table, "Потом пришёл Борин и сел с Нури."))


def test_who_is_only_spoken_of_was_not_there(table: Session) -> None:
    proposal = read(table, "We asked Mira about Jory Fenn.")
    assert people(proposal) == {"mira-voss": True, "jory-fenn": False}
    assert people(read(table, "미라는 조리에 대해 말했다."))["jory-fenn"] is False


@pytest.mark.parametrize(
    "text",
    [
        "Jory Fenn was talked about, but he never came.",
        "Jory Fenn was mentioned, but nobody saw him.",
        "Jory Fenn died a year ago.",
        "Jory Fenn was named in a letter.",
        "Jory Fenn's boat lay at the landing.",
        "We want to find Jory Fenn.",
        "Secretly, Jory Fenn warned the guild.",
        "The players do not know that Jory Fenn stole the oar.",
        "Джори так и не пришёл.",
        "Мы хотим найти Джори до утра.",
        "Игроки не знают, что Джори подделал печать.",
        "조리는 오지 않았다.",
        "조리는 그 자리에 없었다.",
        "플레이어들은 조리가 편지를 쓴 것을 모른다.",
    ],
)
def test_who_is_absent_dead_or_hidden_was_not_there(table: Session, text: str) -> None:
    assert people(read(table, text)) == {"jory-fenn": False}


@pytest.mark.parametrize(
    "text",
    [
        "Mira Voss, Jory Fenn and Tobin met us at the gate.",
        "Mira and Jory Fenn refused to answer.",
        "We spoke to Mira and Jory Fenn.",
        "Мира и Джори весь вечер молчали.",
        "Мы спросили Миру и Джори.",
        "미라와 조리가 문을 열어 주었다.",
    ],
)
def test_names_in_a_row_share_what_they_do(table: Session, text: str) -> None:
    assert people(read(table, text)) == {"mira-voss": True, "jory-fenn": True}


def test_one_sentence_in_which_somebody_acts_is_enough(table: Session) -> None:
    text = (
        "We asked about Jory Fenn. The players do not know that Jory listened. Then Jory came in."
    )
    assert people(read(table, text)) == {"jory-fenn": True}


@pytest.mark.parametrize(
    ("text", "axis", "sign"),
    [
        ("Mira thanked us for the child.", "affection", 1),
        ("Mira no longer trusts us.", "trust", -1),
        ("Мира разозлилась на Нури.", "affection", -1),
        ("Мира больше не доверяет отряду.", "trust", -1),
        ("미라는 우리에게 화를 냈다.", "affection", -1),
        ("미라는 우리를 믿기로 했다.", "trust", 1),
    ],
)
def test_a_change_of_mind_has_its_sentence_as_the_reason(
    table: Session, text: str, axis: str, sign: int
) -> None:
    (change,) = read(table, text).changes
    assert [each.ref for each in change.candidates] == ["mira-voss"]
    assert (change.axis, change.delta > 0) == (axis, sign > 0)
    assert change.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "Jory lied to the guild about the oar.",
        "Джори вернул лодку и соврал потом, что никого не нашёл.",
        "조리는 상단에 거짓말을 했다.",
        "조리가 말하길 배는 산적들이 불태웠다고 한다.",
        "Tobin won a bear's tooth from Jory (threatened +1).",
        "Тобин выиграл у Джори клык (+1 к запугиванию).",
        "토빈은 조리한테서 곰 이빨을 땄다 (위협 +1).",
    ],
)
def test_what_others_do_and_what_dice_say_changes_no_mind(table: Session, text: str) -> None:
    assert read(table, text).changes == []


@pytest.mark.parametrize(
    "text",
    [
        "Мира видела это с моста. Пришла, обняла Нури.",
        "Мира закрыла дверь. Потом она обняла Нури.",
        "미라가 우리를 보고 계셨다. 방값은 안 받으심.",
    ],
)
def test_a_sentence_without_a_subject_is_about_the_person_before(table: Session, text: str) -> None:
    (change,) = read(table, text).changes
    assert (change.candidates[0].ref, change.delta > 0) == ("mira-voss", True)


@pytest.mark.parametrize(
    "text",
    [
        "Without Nuri tonight. Tobin opened the door.",
        "Nuri was absent. Tobin opened the door.",
        "Без Нури (работа). Тобин открыл дверь.",
        "Нури не было, заболел. Тобин открыл дверь.",
        "누리는 불참(야근). 토빈이 문을 열었다.",
        "토빈이 문을 열었다. 누리는 오늘 결석.",
    ],
)
def test_a_player_who_was_absent_is_not_ticked(table: Session, text: str) -> None:
    assert read(table, text).players == ["Tobin Marrow"]


def test_an_absent_player_whose_character_acts_is_ticked(table: Session) -> None:
    text = "Нури не было, за него играл Тобин. Потом Нури крикнул."
    assert read(table, text).players == ["Tobin Marrow", "Nuri"]


def test_the_mind_of_a_name_that_fits_others_is_not_certain(table: Session, world: World) -> None:
    GraphNode.objects.create(world=world, slug="joss", name="Joss Fenn", kind="Character")
    (change,) = read(table, "Fenn was furious with Tobin.").changes
    assert ([each.ref for each in change.candidates], change.certain) == (["jory-fenn"], False)


def test_a_negated_deed_is_no_change(table: Session) -> None:
    assert read(table, "We never betrayed Mira. Мы не спасли Миру.").changes == []


def test_what_was_told_offers_the_secrets_that_the_party_does_not_know(table: Session) -> None:
    text = "Mira admitted that her brother Corin took the ninth boat."
    (line,) = [each for each in read(table, text).reveals if each.candidates[0].secret]
    assert (line.candidates[0].ref, line.candidates[0].secret, line.likely) == (
        "mira-voss",
        1,
        True,
    )


def test_who_the_party_does_not_know_yet_is_offered_as_a_reveal(table: Session) -> None:
    (line,) = read(table, "A woman called Ida Voss sat down.").reveals
    assert (line.candidates[0].ref, line.candidates[0].secret) == ("ida-voss", None)


def test_a_date_is_counted_from_the_dates_that_the_world_knows(table: Session) -> None:
    (date,) = read(table, "On 15 Rainmonth we left.").dates
    assert (date.in_world_at, date.in_world_label) == (415, "15 Rainmonth 3")


def test_promises_and_questions_are_loose_ends(table: Session) -> None:
    text = "We promised Mira a lamp. It rained. Nobody knows who rang the bell."
    loose = [each.text for each in read(table, text).loose_ends]
    assert loose == ["We promised Mira a lamp.", "Nobody knows who rang the bell."]


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("К вечеру вышли к лагерю. Он до сих пор злится.", []),
        ("Стрелять не стали. Надо вернуться к утру.", ["Надо вернуться к утру."]),
        ("Отнести воск Мире! Шёл дождь.", ["Отнести воск Мире!"]),
        (
            "Мира потребовала, чтобы мы вернули лампу.",
            ["Мира потребовала, чтобы мы вернули лампу."],
        ),
        ("Что это значит, никто не понял.", ["Что это значит, никто не понял."]),
        ("Что дальше: лампа и мост. Шёл дождь.", ["Что дальше: лампа и мост."]),
        ("다음에 할 일: 등불과 다리. 비가 왔다.", ["다음에 할 일: 등불과 다리."]),
        ("다음 날 아침 미라를 찾아갔다. 비가 왔다.", []),
        ("배에 알릴지 말지 정해야 함. 비가 왔다.", ["배에 알릴지 말지 정해야 함."]),
        ("미라에게 밀랍 갖다주기! 비가 왔다.", ["미라에게 밀랍 갖다주기!"]),
        ("일요일 전에 데려가 달라고 부탁했다.", ["일요일 전에 데려가 달라고 부탁했다."]),
        ("그제야 한 사람이 왔다. 이야기.", []),
    ],
)
def test_what_is_to_be_done_in_russian_and_korean_notes_is_a_loose_end(
    table: Session, text: str, loose: list[str]
) -> None:
    assert [each.text for each in read(table, text).loose_ends] == loose


MIXED = """Мира разозлилась на нас. Мы обещали Мире вернуть лампу.
We waited for Jory Fenn at the Lower Landing and counted the boats. It rained until the evening.
미라는 우리를 믿기로 했다. GM only: the lamp is a fake."""


def test_each_sentence_is_read_in_its_own_language(table: Session) -> None:
    proposal = read(table, MIXED)
    assert proposal.language == "en"
    assert [(line.axis, line.delta > 0) for line in proposal.changes] == [
        ("affection", False),
        ("trust", True),
    ]
    assert [each.text for each in proposal.loose_ends] == ["Мы обещали Мире вернуть лампу."]
    assert "fake" not in proposal.summary


def test_a_mark_for_game_masters_in_the_language_of_the_report_counts(table: Session) -> None:
    text = "Мира ждала нас на Нижней пристани до вечера. Мастер: Jory Fenn took the ninth boat."
    assert "ninth" not in read(table, text).summary


@pytest.mark.parametrize(
    "line",
    [
        "Мастерское: лампа поддельная.",
        "Для ведущего: лампа поддельная.",
        "Заметки ведущего: лампа поддельная.",
        "Только ведущему: лампа поддельная.",
        "Мастеру: лампа поддельная.",
        "Игроки ещё не знают: лампа поддельная.",
        "마스터만: 등불은 가짜다.",
        "마스터전용: 등불은 가짜다.",
        "GM용 메모: 등불은 가짜다.",
        "게임 마스터 노트: 등불은 가짜다.",
        "플레이어에게는 비밀: 등불은 가짜다.",
    ],
)
def test_marks_of_russian_and_korean_game_masters_hide_the_line(table: Session, line: str) -> None:
    first = "Мира пришла к нам вечером." if "лампа" in line else "미라가 저녁에 우리를 찾아왔다."
    proposal = read(table, f"{first}\n{line}")
    assert (proposal.summary, proposal.notes) == (first, line)


@pytest.mark.parametrize(
    "text",
    [
        "Мастерская кузнеца сгорела. Зашли в мастерскую: там пусто.",
        "Мастеру отдали лампу. Ведущему обозы заплатили.",
        "마스터가 판정을 인정해 줬다. 마스터 키를 얻었다.",
    ],
)
def test_workshops_and_keys_are_no_marks_of_game_masters(table: Session, text: str) -> None:
    assert read(table, text).notes == ""


def test_a_bracket_for_game_masters_is_hidden_to_its_end(table: Session) -> None:
    text = "Mira came. (GM only: the lamp is a fake. It burns cold.) Jory left."
    proposal = read(table, text)
    assert proposal.summary == "Mira came. Jory left."
    text = "Мира пришла. (Для мастера: лампа поддельная. Она не греет.) Джори ушёл."
    assert read(table, text).summary == "Мира пришла. Джори ушёл."


def test_what_the_players_do_not_know_goes_into_the_notes(table: Session) -> None:
    proposal = read(table, "Mira paid. The players do not know that Jory stole the oar.")
    assert proposal.summary == "Mira paid."
    assert proposal.notes == "The players do not know that Jory stole the oar."


LOG = """GM: The foxes reach the Toll House.
Tobin: We open the door.
GM: Mira greets you.
Nuri: I ask her about the vault.
GM only: the vault is a fake. Ida Voss knows.
GM: She says the vault is a fairy tale."""


def test_in_a_log_the_mark_of_a_game_master_says_who_speaks(table: Session) -> None:
    proposal = read(table, LOG)
    assert "foxes" in proposal.summary
    assert "fairy tale" in proposal.summary
    assert proposal.notes == "GM only: the vault is a fake.\nIda Voss knows."
    assert people(proposal) == {"mira-voss": True, "ida-voss": False}


@pytest.mark.parametrize(
    "text",
    [
        "[20:02] GM: The door opens.\n[20:03] Priya (Nuri): I go in.\n[20:04] Dave (Tobin): Wait.",
        "Мастер: Дверь открыта.\nНури: Я вхожу.\nТобин: Стой.",
        "마스터: 문이 열립니다.\n누리: 들어가요.\n토빈: 기다려.",
        "DM: The door opens.\nAlex: I go in.\nKim: Wait.\nAlex: No.\nKim: Well.",
    ],
)
def test_logs_of_several_speakers_hide_nothing(table: Session, text: str) -> None:
    assert read(table, text).notes == ""


@pytest.mark.parametrize(
    "text",
    [
        "Where: Toll House\nWhen: evening\nWe met Mira.\nGM: the lamp is a fake. It burns cold.",
        "NPC: Mira\nNPC: Jory\nGM: the lamp is a fake. It burns cold.",
        "Мира пришла.\nМастер: the lamp is a fake. It burns cold.",
    ],
)
def test_in_notes_the_mark_of_a_game_master_hides_the_line(table: Session, text: str) -> None:
    proposal = read(table, text)
    assert "the lamp is a fake" in proposal.notes
    assert "It burns cold." in proposal.notes
    assert "fake" not in proposal.summary


def test_what_the_party_does_not_know_is_not_what_it_learned(table: Session) -> None:
    text = "Mira paid. The players do not know that Mira sent word to Ida Voss."
    assert read(table, text).reveals == []


def test_unknown_names_are_offered_when_they_are_written_like_names(table: Session) -> None:
    text = "We met Wenna on the quay. Then Wenna ran. The Rain fell. We saw the rain and Wenna."
    assert read(table, text).new_names == ["Wenna"]


def test_a_misspelt_name_is_a_choice_and_never_certain(table: Session, world: World) -> None:
    create_npc(world, slug="matvei", name="Kotelnik", visibility="public")
    (line,) = read(table, "Then Kotelnyk laughed. We paid Kotelnyk, and Kotelnyk left.").people
    assert [each.ref for each in line.candidates] == ["matvei"]
    assert not line.present


def test_a_long_report_is_cut_and_summed_up(table: Session) -> None:
    text = " ".join(f"On day {n} Mira crossed the river with {n} eels." for n in range(400))
    proposal = read(table, text)
    assert len(proposal.summary) < 1_500
    assert people(proposal) == {"mira-voss": True}


@pytest.mark.parametrize("text", ["", " \n ", "a" * (LONGEST_REPORT + 1)])
def test_an_empty_or_too_long_report_is_refused(table: Session, text: str) -> None:
    with pytest.raises(Invalid):
        read(table, text)


def test_a_proposal_writes_nothing(table: Session) -> None:
    read(table, "Mira thanked us. She admitted that Corin took the ninth boat.")
    assert not Episode.objects.exists()
    assert not DispositionChange.objects.exists()
    assert not Reveal.objects.exists()


ANSWER = {
    "summary": ["Mira thanked the party."],
    "game_master_only": ["Jory watched"],
    "people": [{"name": "Jory Fenn", "was_there": False, "quote": "Jory watched from the reeds"}],
    "changes": [
        {
            "name": "Mira Voss",
            "axis": "affection",
            "delta": 12,
            "reason": "They brought the child back.",
            "quote": "Mira thanked us",
        },
        {
            "name": "Jory Fenn",
            "axis": "trust",
            "delta": -9,
            "reason": "Invented.",
            "quote": "Jory cursed them all",
        },
        {"name": "Nobody", "axis": "fear", "delta": 5, "reason": "?", "quote": "Mira thanked us"},
    ],
    "learned": [],
    "facts": [],
    "loose_ends": [{"text": "Return the child's shoe.", "quote": "the shoe is still here"}],
}


def test_a_model_reads_and_what_it_quotes_wrongly_is_dropped(
    table: Session, scripted_llm: Loopback
) -> None:
    scripted_llm.chat.then(answer_json(ANSWER))
    text = "Mira thanked us. Jory watched from the reeds. The shoe is still here."
    assert table.party
    proposal = propose(Report(table.party, text))
    assert proposal.method == "llm"
    assert proposal.summary == "Mira thanked the party."
    assert [(each.candidates[0].ref, each.delta) for each in proposal.changes] == [
        ("mira-voss", 12)
    ]
    assert people(proposal) == {"mira-voss": True, "jory-fenn": False}
    assert [each.text for each in proposal.loose_ends] == ["Return the child's shoe."]


def test_without_an_answer_of_the_model_the_rules_propose(
    table: Session, scripted_llm: Loopback, mira: NPC
) -> None:
    assert table.party
    scripted_llm.chat.always(status(400))
    proposal = propose(Report(table.party, "Mira thanked us."))
    assert (proposal.method, proposal.degraded) == ("rules", ["llm"])
    assert people(proposal) == {mira.slug: True}
