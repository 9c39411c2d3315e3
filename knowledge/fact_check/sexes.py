"""Which sex facts and names tell: a label tells that of the end that it is about, and a Russian
given name that of its bearer."""

from knowledge.fact_check.labelled_facts import LabelledFact
from knowledge.graph.models import GraphNode
from retrieval.text import is_cyrillic, russian_analyzer

OTHER_SEX = {"male": "female", "female": "male"}
SEX_OF_GENDER = {"masc": "male", "femn": "female"}


def sex_of_name(node: GraphNode) -> str:
    """Return `male` or `female` by the given names in Russian; nothing without one that the
    dictionary knows, or when they differ."""
    given = {
        next((word for word in name.split() if word[0].isupper()), "").casefold()
        for name in (node.name, *node.aliases)
        if is_cyrillic(name.casefold())
    }
    sexes = {_sex_of_word(word) for word in given if word}
    return sexes.pop() if len(sexes) == 1 else ""


def _sex_of_word(word: str) -> str:
    """By the dictionary: endings say little of the names of an invented world."""
    sexes = {
        SEX_OF_GENDER.get(each.tag.gender, "")
        for each in russian_analyzer().parse(word)
        if each.is_known and {"Name", "nomn", "sing"} in each.tag
    }
    return sexes.pop() if len(sexes) == 1 else ""


def sex_of_spouse(fact: LabelledFact, whom: object) -> str:
    """Return the sex of `whom` by the one to whom `fact` says that they are married."""
    told = [sex for end, sex in fact.sexes if end != whom]
    ends = (fact.first, fact.second)
    return OTHER_SEX[told[0]] if told and fact.bond == "spouse" and whom in ends else ""


def may_be_of_sex(fact: LabelledFact, whom: object, sex: str) -> bool:
    """Whether nothing that `fact` and the name of its end `whom` tell is against it."""
    if not sex:
        return True
    told = dict(fact.sexes).get(whom) or sex_of_spouse(fact, whom)
    if not told:
        ends = {node.pk: node for node in (fact.edge.src, fact.edge.dst)}
        told = sex_of_name(ends[whom])  # type: ignore[index]
    return told in ("", sex)
