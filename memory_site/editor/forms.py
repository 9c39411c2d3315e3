"""The form of a thing: one for all kinds, with the fields of an NPC for a character."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from knowledge.lore_kinds import LoreKind
from knowledge.markup_check import check_markup
from knowledge.models import Lore
from knowledge.schemas import LONGEST_BODY
from knowledge.upsert import find_lore_entry
from memory_site.editor.things import Thing
from npcs.disposition_models import HIGHEST, LOWEST
from npcs.family import family_lines, parse_family, with_slugs
from npcs.lookup import find_npc
from npcs.models import NPC
from retrieval.errors import Problem
from retrieval.text import storage_flaw
from worlds.audience_names import parties_with_characters
from worlds.audiences import Visibility
from worlds.day_field import DayField, use_calendar
from worlds.exact_forms import LineField, ParagraphsField, refuse_markers
from worlds.list_fields import ListField, ListWidget
from worlds.models import Campaign, World

OWN_KIND = "own:"
"""Prefix of the slug of a kind of the world's own, among the choices of kinds."""
MOST_LINES_TO_PLAY = 3
NPC_FIELDS = (
    *("role", "summary", "faction", "home", "voice", "goals", "play_now", "base"),
    *("hides_faction", "family"),
)
"""Fields of the form that are the NPC's alone."""


def lines(label: Any, *, longest: int = 200, multiline: bool = False, **kwargs: Any) -> ListField:
    base = ParagraphsField if multiline else LineField
    return ListField(
        label=label,
        required=False,
        base_field=base(max_length=longest),
        widget=ListWidget(multiline=multiline),
        **kwargs,
    )


def kind_choices(world: World) -> list[tuple[str, str]]:
    own = LoreKind.objects.filter(world=world).values_list("slug", "name", "icon")
    choices = [(kind.value, str(kind.label)) for kind in Lore.Kind]
    return [*choices, *((OWN_KIND + slug, f"{icon} {name}".strip()) for slug, name, icon in own)]


class ThingForm(forms.Form):
    """`initial_of` gives the stored values; whoever saves writes `changed_data` alone, so that what
    a browser alters on the way stays as it is stored.

    Cleaned values are texts as `initial_of` has them, because the page for two editors merges them
    with the stored ones; `audiences`, `relatives` and `replaced_entry` say what they mean."""

    title = LineField(label=_("Name"), max_length=200)
    kind = forms.ChoiceField(label=_("Kind"))
    status = forms.ChoiceField(label=_("Status"), choices=Lore.Status)
    visibility = forms.ChoiceField(label=_("Who may see it"), choices=Visibility)
    parties = forms.MultipleChoiceField(
        label=_("Revealed to"), required=False, widget=forms.CheckboxSelectMultiple
    )
    npcs = lines(_("and to these NPCs"), help_text=_("Names of NPCs."))
    body = ParagraphsField(
        label=_("Text"), required=False, max_length=LONGEST_BODY, widget=forms.Textarea
    )
    aliases = lines(_("Other names"), help_text=_("In any language and script."))
    tags = lines(_("Tags"), longest=80)
    folder = LineField(
        label=_("Folder"), required=False, max_length=200, help_text=_("Such as North/Carrow.")
    )
    language = LineField(label=_("Language"), required=False, max_length=8)
    in_world_label = LineField(label=_("In-world date"), required=False, max_length=120)
    in_world_at = DayField(
        label=_("Day"),
        required=False,
        help_text=_("A date of the world’s calendar, or the number of a world day."),
    )
    in_world_until_label = LineField(label=_("Until"), required=False, max_length=120)
    in_world_until = DayField(label=_("Until day"), required=False, takes_last=True)
    campaign = forms.ChoiceField(label=_("Belongs to"), required=False)
    overrides = LineField(
        label=_("Replaces"),
        required=False,
        max_length=200,
        help_text=_("The canon entry that it replaces in its campaign."),
    )
    author = LineField(label=_("Author"), required=False, max_length=120)

    is_npc = forms.BooleanField(label=_("The game master plays this character"), required=False)
    role = LineField(label=_("Role"), required=False, max_length=200)
    summary = ParagraphsField(
        label=_("At first sight"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 3}),
        help_text=_("What anyone who meets the NPC can see."),
    )
    faction = LineField(label=_("Faction"), required=False, max_length=200)
    hides_faction = forms.BooleanField(label=_("The faction is a secret"), required=False)
    home = LineField(label=_("Home"), required=False, max_length=200)
    family = lines(
        _("Family"),
        longest=240,
        help_text=_("One person in each line, with what they are: “mother: Selka Voss”."),
    )
    voice = ParagraphsField(
        label=_("Voice"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 2}),
    )
    goals = lines(_("Goals"), longest=2000, multiline=True)
    play_now = lines(_("How to play the NPC, in three lines"), longest=2000, multiline=True)
    base = forms.IntegerField(
        label=_("Initial disposition"),
        required=False,
        min_value=LOWEST,
        max_value=HIGHEST,
        help_text=_("Toward a party that the NPC knows nothing about: −100 hostile, 100 devoted."),
    )

    reason = LineField(
        label=_("What you changed"),
        required=False,
        max_length=100,
        help_text=_("Shown in the history."),
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    npc_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, world: World, thing: Thing, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.world, self.thing = world, thing
        self.replaced_entry: Lore | None = None
        use_calendar(self, world)
        self._choice("kind").choices = kind_choices(world)
        self._choice("parties").choices = parties_with_characters(world)
        self._choice("campaign").choices = [
            ("", _t("Canon of the world")),
            *Campaign.objects.filter(world=world).order_by("name").values_list("slug", "name"),
        ]
        self.fields["faction"].widget.attrs["list"] = "names-of-factions"
        self.fields["home"].widget.attrs["list"] = "names-of-places"
        self.fields["npcs"].widget.attrs["list"] = "names-of-npcs"
        self.fields["body"].widget.attrs |= {
            "data-editor": True,
            "data-world": world.slug,
            "data-entry": str(thing.entry.pk) if thing.entry else "",
            "rows": 24,
        }

    def _choice(self, name: str) -> Any:
        return self.fields[name]

    @property
    def changed_content(self) -> set[str]:
        """The fields that were edited, of those that are stored."""
        return set(self.changed_data) - {"reason", "version", "npc_version"}

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in data.items():
            flaw = storage_flaw("\n".join(value) if isinstance(value, list) else str(value or ""))
            if flaw:
                self.add_error(name, flaw)
        refuse_markers(self)
        chosen = data.get("parties") or data.get("npcs")
        if data.get("visibility") == Visibility.REVEALED and not chosen and "npcs" in data:
            self.add_error("visibility", _t("Choose the parties or NPCs to whom it is revealed."))
        if data.get("overrides") and not data.get("campaign"):
            self.add_error("overrides", _t("Only an entry of a campaign replaces canon."))
        first, last = data.get("in_world_at"), data.get("in_world_until")
        if last is not None and (first is None or last < first):
            self.add_error("in_world_until", _t("It has to end after the day on which it began."))
        return data

    def clean_title(self) -> str:
        title = " ".join(self.cleaned_data["title"].split())
        if "title" in self.changed_data and set(title) & set("[]|#"):
            text = _t("A name cannot hold [ ] | or #, because links are written with them.")
            raise ValidationError(text)
        return title

    def clean_body(self) -> str:
        text: str = self.cleaned_data["body"]
        if "body" in self.changed_data:
            problems = [ValidationError(str(problem)) for problem in check_markup(self.world, text)]
            if problems:
                raise ValidationError(problems)
        return text

    def clean_npcs(self) -> list[str]:
        """Return the slugs of the NPCs that were named."""
        slugs = []
        for name in self.cleaned_data["npcs"]:
            try:
                slugs.append(find_npc(self.world, name).slug)
            except Problem as problem:
                raise ValidationError(with_candidates(problem)) from problem
        return slugs

    def clean_family(self) -> list[str]:
        lines: list[str] = self.cleaned_data["family"]
        parse_family(lines)
        return lines

    def clean_play_now(self) -> list[str]:
        values: list[str] = self.cleaned_data["play_now"]
        if "play_now" in self.changed_data and len(values) > MOST_LINES_TO_PLAY:
            raise ValidationError(_t("Three lines at most, so that one glance is enough."))
        return values

    def clean_overrides(self) -> str:
        """Return the slug of the entry that was named."""
        name = self.cleaned_data["overrides"]
        try:
            self.replaced_entry = find_lore_entry(self.world, name) if name else None
        except Problem as problem:
            raise ValidationError(with_candidates(problem)) from problem
        return self.replaced_entry.slug if self.replaced_entry else ""

    @property
    def audiences(self) -> list[str]:
        """The parties, characters and NPCs to whom the thing is revealed."""
        npcs = [f"npc:{slug}" for slug in self.cleaned_data["npcs"]]
        return sorted({*self.cleaned_data["parties"], *npcs})

    @property
    def relatives(self) -> list[dict[str, str]]:
        """The lines of the family as the NPC's field has them."""
        return with_slugs(self.world, [parse_family(self.cleaned_data["family"])])[0]

    @property
    def own_kind(self) -> str:
        """Slug of the chosen kind of the world's own; empty for a built-in one."""
        kind: str = self.cleaned_data["kind"]
        return kind.removeprefix(OWN_KIND) if kind.startswith(OWN_KIND) else ""


class SecretForm(forms.Form):
    """A secret of an NPC, which is revealed by itself."""

    id = forms.UUIDField(required=False, widget=forms.HiddenInput)
    text = ParagraphsField(
        label=_("Secret"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 2}),
    )
    parties = forms.MultipleChoiceField(
        label=_("Known to"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, parties: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["parties"]
        field.choices = parties

    def clean(self) -> dict[str, Any] | None:
        refuse_markers(self)
        return super().clean()

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"] or ""
        if flaw := storage_flaw(text):
            raise ValidationError(flaw)
        return text


SecretForms: Any = forms.formset_factory(SecretForm, extra=2, max_num=100, absolute_max=120)


def secret_forms(npc: NPC | None, choices: Iterable[Any], data: Any = None) -> Any:
    secrets = list(npc.secrets.all()) if npc else []
    initial = [
        {"id": row.pk, "text": row.text, "parties": parties_of(row.known_to)} for row in secrets
    ]
    kwargs = {"parties": list(choices)}
    return SecretForms(data, initial=initial, prefix="secrets", form_kwargs=kwargs)


def with_candidates(problem: Problem) -> str:
    if not problem.candidates:
        return problem.detail
    values = {"problem": problem.detail, "names": ", ".join(problem.candidates)}
    return _t("%(problem)s Did you mean: %(names)s?") % values


def parties_of(known_to: Iterable[str]) -> list[str]:
    """The parties and characters in `known_to`, which the forms let choose."""
    return [each for each in known_to if each.startswith(("party:", "character:"))]


def initial_of(thing: Thing) -> dict[str, Any]:
    """The stored values, as the form shows them."""
    values: dict[str, Any] = {"title": thing.name, "aliases": thing.aliases}
    if entry := thing.entry:
        copied = ("status", "body", "tags", "folder", "language", "author")
        days = ("in_world_at", "in_world_label", "in_world_until", "in_world_until_label")
        values |= {name: getattr(entry, name) for name in (*copied, *days)}
        values["kind"] = OWN_KIND + entry.custom_kind.slug if entry.custom_kind else entry.kind
        values["campaign"] = entry.campaign.slug if entry.campaign else ""
        values["overrides"] = entry.overrides.slug if entry.overrides else ""
        values["version"] = entry.version
    else:
        values |= {"kind": Lore.Kind.BIOGRAPHY, "status": Lore.Status.PUBLISHED}
        values["language"] = thing.language
    values["visibility"] = thing.row.visibility
    values["parties"] = parties_of(thing.row.known_to)
    values["npcs"] = [
        each.partition(":")[2] for each in thing.row.known_to if each.startswith("npc:")
    ]
    values["is_npc"] = thing.npc is not None
    if npc := thing.npc:
        names = ("role", "summary", "faction", "home", "voice", "goals", "play_now", "base")
        values |= {name: getattr(npc, name) for name in names}
        values["family"] = family_lines(npc)
        values["hides_faction"] = npc.faction_visibility != Visibility.PUBLIC
        values["npc_version"] = npc.version
    return values
