"""The form of an episode: its text, and the lines that a game master accepts, changes or drops."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.utils.translation import gettext_lazy as _

from episodes.field_types import LONGEST_TEXT
from knowledge.graph.labels import RELATION_LABELS
from memory_site.session_pages.episode_lines import SECTIONS, EpisodeLine, Lines
from npcs.models import Axis
from worlds.audiences import Visibility
from worlds.day_field import DayField, leave_out_label, use_calendar
from worlds.models import Party

MOST_LINES = 200
EMPTY_LINES = 1
NPC_LIST, PLACE_LIST, THING_LIST, WORD_LIST = "npc-names", "place-names", "thing-names", "words"


class EpisodeForm(forms.Form):
    """What happened, when and where. Its lines are form sets of their own."""

    what = forms.CharField(
        label=_("What happened"),
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 9}),
        help_text=_("The players of the party read this, unless you choose otherwise below."),
    )
    visibility = forms.ChoiceField(
        label=_("Who reads it"),
        choices=[
            (Visibility.REVEALED, _("The party")),
            (Visibility.GM, _("Game masters only")),
            (Visibility.PUBLIC, _("Everybody")),
        ],
    )
    notes = forms.CharField(
        label=_("Notes for game masters only"),
        max_length=LONGEST_TEXT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    players = forms.MultipleChoiceField(
        label=_("Player characters"), required=False, widget=forms.CheckboxSelectMultiple
    )
    where = forms.CharField(
        label=_("Where"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"list": PLACE_LIST, "autocomplete": "off"}),
    )
    in_world_label = forms.CharField(label=_("In-world date"), max_length=120, required=False)
    in_world_at = DayField(
        label=_("In-world day"),
        required=False,
        help_text=_("Sorts what happened. Leave it empty if your world counts no days."),
    )
    flags = forms.CharField(
        label=_("Flags"), max_length=2000, required=False, help_text=_("Separated by commas.")
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, party: Party, players: Sequence[str] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        names = dict.fromkeys([*map(str, party.members), *players])
        field: Any = self.fields["players"]
        field.choices = [(name, name) for name in names]
        use_calendar(self, party.world)
        leave_out_label(self)

    def clean_flags(self) -> list[str]:
        flags = [" ".join(each.split()) for each in self.cleaned_data["flags"].split(",")]
        flags = list(dict.fromkeys(each for each in flags if each))
        if any(len(each) > 120 for each in flags) or len(flags) > 100:
            raise forms.ValidationError(_("At most 100 flags of at most 120 characters."))
        return flags


class LineForm(forms.Form):
    """A line with a tick. An empty line at the end counts when something is written in it."""

    chosen: str = ""
    """The field of what may be chosen from the line's choices."""

    use = forms.BooleanField(label=_("Record this"), required=False)

    def __init__(self, *args: Any, line: EpisodeLine | None = None, **kwargs: Any) -> None:
        if line:
            kwargs["initial"] = {**line.values, "use": line.accepted}
        super().__init__(*args, **kwargs)
        self.line = line
        if line is None:
            del self.fields["use"]
        elif line.choices and self.chosen:
            is_known = self.chosen == "npc" and bool(line.values["npc"])
            is_certain = is_known and not line.is_uncertain
            self.fields[self.chosen] = forms.ChoiceField(
                label=self.fields[self.chosen].label,
                choices=[("", _("Choose")), *line.choices],
                required=False,
                widget=forms.HiddenInput if is_certain else forms.Select,
            )

    @property
    def certain_name(self) -> str:
        """The name of the only thing that the line can mean."""
        line = self.line
        is_hidden = bool(line and self.chosen and self.fields[self.chosen].widget.is_hidden)
        return line.choices[0][1] if line and is_hidden else ""

    @property
    def is_used(self) -> bool:
        """Whether the line is to be recorded."""
        if self.line is not None:
            return bool(self.cleaned_data.get("use"))
        return any(self.cleaned_data.get(name) for name in self.written)

    written: tuple[str, ...] = ()
    """The fields that make an empty line one that counts; all of them are needed then."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.is_used and not (self.line and not self.line.values):
            for name in self.written:
                if name not in self.errors and not cleaned.get(name):
                    self.add_error(name, _("Fill this in or choose, or untick the line."))
        return cleaned


def _names(label: Any, names: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"list": names, "autocomplete": "off"})
    return forms.CharField(label=label, max_length=200, required=False, widget=widget)


class PersonForm(LineForm):
    chosen, written = "npc", ("npc",)

    npc = _names(_("NPC"), NPC_LIST)


class ChangeForm(LineForm):
    chosen, written = "npc", ("npc", "delta")

    npc = _names(_("NPC"), NPC_LIST)
    toward = _names(_("Of whom (empty: the party)"), NPC_LIST)
    axis = forms.ChoiceField(label=_("Axis"), choices=Axis.choices, required=False)
    delta = forms.IntegerField(label=_("Change"), min_value=-100, max_value=100, required=False)
    reason = forms.CharField(label=_("Reason"), max_length=2000, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.is_used and cleaned.get("toward") and cleaned.get("axis") == Axis.FEAR:
            self.add_error("axis", _("Fear counts toward the party alone: choose another axis."))
        return cleaned


class RevealForm(LineForm):
    chosen, written = "subject", ("subject",)

    subject = _names(_("What the party learned of"), THING_LIST)
    secret = forms.IntegerField(
        label=_("Number of the secret"), min_value=1, max_value=1000, required=False
    )
    note = forms.CharField(label=_("Note"), max_length=2000, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.line is not None:
            del self.fields["secret"]


class FactLineForm(LineForm):
    written = ("src", "words", "dst")

    src = _names(_("Who or what"), THING_LIST)
    words = forms.CharField(
        label=_("Relation"),
        max_length=80,
        required=False,
        widget=forms.TextInput(attrs={"list": WORD_LIST, "autocomplete": "off"}),
    )
    dst = _names(_("Whom or what"), THING_LIST)


class LooseEndForm(LineForm):
    written = ("text",)

    text = forms.CharField(label=_("What is open"), max_length=400, required=False)


class LineFormSet(BaseFormSet):  # type: ignore[type-arg]  # not subscriptable at run time
    """The lines of a section, then empty ones."""

    def __init__(self, *args: Any, lines: Sequence[EpisodeLine], **kwargs: Any) -> None:
        self.lines = lines
        kwargs["initial"] = [line.values for line in lines]
        super().__init__(*args, **kwargs)

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        kwargs = super().get_form_kwargs(index)
        has_line = index is not None and index < len(self.lines)
        return {**kwargs, "line": self.lines[index] if has_line else None}  # type: ignore[index]

    def lines_to_record(self) -> list[LineForm]:
        """The lines to record; call after `is_valid`."""
        return [form for form in self.forms if form.is_used]


FORMS = {
    "people": PersonForm,
    "changes": ChangeForm,
    "reveals": RevealForm,
    "facts": FactLineForm,
    "loose_ends": LooseEndForm,
}
TITLES = {
    "people": _("Who was there"),
    "changes": _("Changes of mind"),
    "reveals": _("What the party learned"),
    "facts": _("Lasting facts"),
    "loose_ends": _("Loose ends"),
}
RELATION_WORDS = list(RELATION_LABELS.values())


def line_sets(data: Any, lines: Lines) -> dict[str, LineFormSet]:
    """The form sets of all sections, by name."""
    sets = {}
    for name in SECTIONS:
        factory: Any = formset_factory(
            FORMS[name],
            formset=LineFormSet,
            extra=EMPTY_LINES,
            max_num=MOST_LINES,
            absolute_max=MOST_LINES + EMPTY_LINES,
        )
        sets[name] = factory(data, lines=lines[name], prefix=name)
    return sets
