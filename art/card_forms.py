"""Forms of art cards: the picture of a card is uploaded with it, through the same checks as every
picture."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget

from art.image_files import STORED_AS
from art.models import ArtCard, Picture
from art.pictures import store_picture
from art.schemas import ArtCardIn
from retrieval.errors import Problem
from retrieval.text import storage_flaw
from worlds.audiences import Visibility
from worlds.exact_forms import ExactModelForm, LineField, ParagraphsField
from worlds.list_fields import ListField, ListWidget
from worlds.models import World

ACCEPTED = ",".join(sorted({kind for kind, _ending in STORED_AS.values()}))
UPLOAD_HELP = _("PNG, JPEG, WebP, GIF or AVIF. It becomes a picture of the world.")


def store_uploaded(form: Any, world: World | None, *, by: str) -> Picture | None:
    """Store the file of the field `upload`, when the form is sound so far; what is wrong with it is
    an error of that field."""
    file = form.cleaned_data.get("upload")
    if not file or not world or form.errors:
        return None
    try:
        return store_picture(world, file, by=by)
    except Problem as problem:
        form.add_error("upload", problem.detail)
        return None


class ArtCardAdminForm(ExactModelForm):
    upload = forms.FileField(
        label=_("Upload a picture"),
        required=False,
        help_text=UPLOAD_HELP,
        widget=UnfoldAdminFileFieldWidget({"accept": ACCEPTED}),
    )
    uploaded_by = ""

    class Meta:
        model = ArtCard
        fields: ClassVar[list[str]] = []

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        world = data.get("world") or (None if self.instance._state.adding else self.instance.world)
        if picture := store_uploaded(self, world, by=self.uploaded_by):
            data["picture"] = picture
        return data


class ArtCardForm(forms.Form):
    """The form of the site. `picture` is one that is uploaded already."""

    upload = forms.FileField(
        label=_("Upload a picture"),
        required=False,
        help_text=UPLOAD_HELP,
        widget=forms.FileInput({"accept": ACCEPTED}),
    )
    picture = forms.ModelChoiceField(
        queryset=Picture.objects.none(), required=False, widget=forms.HiddenInput
    )
    cdn_url = forms.URLField(
        label=_("Or its address elsewhere"), required=False, max_length=1000, assume_scheme="https"
    )
    prompt_text = ParagraphsField(
        label=_("What it shows"),
        max_length=20_000,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("In words, such as the prompt that it was made with: it is found by them."),
    )
    entities = ListField(
        label=_("Who and what is on it"),
        required=False,
        base_field=LineField(max_length=200),
        widget=ListWidget(),
        help_text=_("Names of NPCs, places and other entries."),
    )
    visual_tags = ListField(
        label=_("Tags"), required=False, base_field=LineField(max_length=80), widget=ListWidget()
    )
    style = LineField(label=_("Style"), required=False, max_length=200)
    visibility = forms.ChoiceField(
        label=_("Who may see it"), choices=Visibility, initial=Visibility.REVEALED
    )
    moderation = forms.ChoiceField(
        label=_("Moderation"),
        choices=ArtCard.Moderation,
        initial=ArtCard.Moderation.APPROVED,
        help_text=_("Players see approved cards only."),
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, world: World, by: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.world, self.by = world, by
        field: Any = self.fields["picture"]
        field.queryset = Picture.objects.in_world(world).present()

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for name in ("cdn_url", "prompt_text", "style"):
            if flaw := storage_flaw(str(data.get(name) or "")):
                self.add_error(name, flaw)
        if not (data.get("upload") or data.get("picture") or data.get("cdn_url")):
            self.add_error("upload", _t("Choose a picture, or give its address."))
        if picture := store_uploaded(self, self.world, by=self.by):
            data["picture"] = picture
        return data

    def card(self, image_id: str, *, scene_id: str | None, seed: int | None) -> ArtCardIn:
        """The card as an engine would send it. The scene and the seed are the engine's."""
        data = self.cleaned_data
        names = ("cdn_url", "prompt_text", "entities", "visual_tags", "style", "visibility")
        return ArtCardIn.model_validate(
            {
                **{name: data[name] for name in names},
                "image_id": image_id,
                "scene_id": scene_id,
                "seed": seed,
                "moderation": data["moderation"],
                "picture_id": data["picture"].pk if data["picture"] else None,
            }
        )
