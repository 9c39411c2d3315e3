"""Forms of the pages about people, keys and worlds."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from worlds.audiences import GM, PUBLIC
from worlds.keys import Scope
from worlds.models import Campaign, Character, GameSystem, Invitation, Membership, Party, World
from worlds.offered_systems import offered_systems
from worlds.pages import Viewer
from worlds.roles import MAY_GRANT

LIFETIMES = {7: _("One week"), 30: _("One month"), 90: _("Three months"), 365: _("One year")}
FOR_EVER = 0
MOST_GUESTS = 50
SCOPES_IN_WORDS = {
    Scope.TOOLS_READ: _("Read: look up rules, lore, NPCs, sessions and art"),
    Scope.WORLD_WRITE: _(
        "Write to the world: create, change, delete and reveal lore, NPCs, sessions and episodes"
    ),
    Scope.AGENT_WRITE: _("Write the memory of an agent"),
    Scope.AGENT_REVIEW: _("Decide what an agent under review may remember"),
    Scope.ADMIN: _(
        "Administer: keys, people, webhooks, archives, the audit; includes all the others"
    ),
}

AGENT_SCOPES = frozenset({Scope.AGENT_WRITE.value, Scope.AGENT_REVIEW.value})


def roles_offered(viewer: Viewer) -> list[tuple[str, str]]:
    """Return the roles that the viewer may give, as choices."""
    offered = MAY_GRANT.get(viewer.role, ())
    return [(role.value, str(role.label)) for role in Membership.Role if role in offered]


def scopes_offered(viewer: Viewer) -> list[tuple[str, Any]]:
    """Return the scopes that the viewer may give a key, as choices. A key that administers the
    world gives every role, as a designer does: designers alone make one."""
    may_grant_all = Membership.Role.DESIGNER in MAY_GRANT.get(viewer.role, ())
    return [
        (scope.value, words)
        for scope, words in SCOPES_IN_WORDS.items()
        if may_grant_all or scope != Scope.ADMIN
    ]


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        coerce=int,
        choices=[(days, LIFETIMES[days]) for days in (7, 30, 90)],
    )

    class Meta:
        model = Invitation
        fields = ["role", "party", "character", "max_uses", "note"]

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles: Any = self.fields["role"]
        roles.choices = roles_offered(viewer)
        roles.initial = Membership.Role.PLAYER
        party: Any = self.fields["party"]
        party.queryset = Party.objects.filter(world=viewer.world).order_by("name")
        party.empty_label = _("No party yet")
        party.help_text = _("For players.")
        character: Any = self.fields["character"]
        character.queryset = Character.objects.filter(world=viewer.world).order_by("name")
        character.empty_label = _("No character yet")
        character.help_text = _("Whom the player plays. Then the party is the character's.")
        uses: Any = self.fields["max_uses"]
        uses.min_value, uses.max_value = 1, MOST_GUESTS
        uses.widget.attrs.update(min=1, max=MOST_GUESTS)

    def clean_max_uses(self) -> int:
        uses: int = self.cleaned_data["max_uses"]
        if not 1 <= uses <= MOST_GUESTS:
            raise forms.ValidationError(
                _("Between 1 and %(most)s people."), params={"most": MOST_GUESTS}
            )
        return uses


class MemberForm(forms.Form):
    role = forms.ChoiceField(label=_("role"))
    party = forms.ModelChoiceField(label=_("party"), queryset=Party.objects.none(), required=False)
    character = forms.ModelChoiceField(
        label=_("character"), queryset=Character.objects.none(), required=False
    )

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles: Any = self.fields["role"]
        roles.choices = roles_offered(viewer)
        party: Any = self.fields["party"]
        party.queryset = Party.objects.filter(world=viewer.world).order_by("name")
        party.empty_label = _("No party yet")
        character: Any = self.fields["character"]
        character.queryset = Character.objects.filter(world=viewer.world).select_related("party")


class CharacterForm(forms.Form):
    """A new character of a party."""

    name = forms.CharField(label=_("Name of the character"), max_length=200)
    party = forms.ModelChoiceField(label=_("party"), queryset=Party.objects.none())

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        party: Any = self.fields["party"]
        party.queryset = Party.objects.filter(world=viewer.world).order_by("name")


class PartyForm(forms.Form):
    """A new party, in a campaign that exists or in a new one."""

    name = forms.CharField(label=_("Name of the party"), max_length=200)
    campaign = forms.ModelChoiceField(
        label=_("campaign"), queryset=Campaign.objects.none(), required=False
    )
    new_campaign = forms.CharField(label=_("or a new campaign"), max_length=200, required=False)

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        campaign: Any = self.fields["campaign"]
        campaign.queryset = Campaign.objects.filter(world=viewer.world).order_by("name")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("campaign") and not cleaned.get("new_campaign"):
            self.add_error("campaign", _("Choose a campaign, or name a new one."))
        return cleaned


class KeyForm(forms.Form):
    """A key for a program, in words."""

    name = forms.CharField(
        label=_("What is it for?"),
        max_length=120,
        help_text=_("Such as: game engine, test server."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What may it do?"),
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.TOOLS_READ.value],
    )
    audience = forms.ChoiceField(
        label=_("Whose knowledge may it see?"),
        help_text=_("A program for players must not see the game master's secrets."),
    )
    namespace = forms.CharField(
        label=_("Which agent's memory?"),
        max_length=120,
        required=False,
        help_text=_(
            "The name of the agent, such as scribe: keys with the same name share its memory. "
            "Without a name a key has none; a game master's key then reaches the memory of NPCs."
        ),
    )
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        coerce=int,
        choices=[*LIFETIMES.items(), (FOR_EVER, _("Until it is revoked"))],
        initial=365,
    )

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes: Any = self.fields["scopes"]
        scopes.choices = scopes_offered(viewer)
        audience: Any = self.fields["audience"]
        audience.choices = [
            (str(PUBLIC), _("What everybody may know")),
            *viewer.party_choices,
            (str(GM), _("Everything, as a game master")),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        uses_memory = bool(AGENT_SCOPES.intersection(cleaned.get("scopes", ())))
        if uses_memory and not cleaned.get("namespace") and cleaned.get("audience") != str(GM):
            self.add_error("namespace", _("Name the agent whose memory the program uses."))
        return cleaned

    @property
    def expires_at(self) -> datetime | None:
        days: int = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


class WorldForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    language = forms.ChoiceField(
        label=_("language"),
        choices=settings.LANGUAGES,
        help_text=_("In which the world is written. Search understands its word forms."),
    )
    system = forms.ModelChoiceField(
        label=_("game system"),
        queryset=GameSystem.objects.none(),
        required=False,
        empty_label=_("None, or another"),
        help_text=_("Its rules can be looked up in the world."),
    )

    class Meta:
        model = World
        fields = ["name", "language", "system", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        systems: Any = self.fields["system"]
        systems.queryset = offered_systems()
