"""The addresses of the demo's pictures, which this site serves itself."""

from urllib.parse import urlsplit

from art.models import ArtCard

FOLDER = "/static/memory37/demo/"


def set_picture_addresses(site: str) -> int:
    """Let the demo's pictures have addresses below `site` (`http://host:port`), where it runs now;
    return how many were elsewhere."""
    count = 0
    for pk, address in ArtCard.objects.filter(cdn_url__contains=FOLDER).values_list(
        "pk", "cdn_url"
    ):
        path = urlsplit(address).path
        if path.startswith(FOLDER) and address != site + path:
            count += ArtCard.objects.filter(pk=pk).update(cdn_url=site + path)
    return count
