"""The frame of the admin, as django-unfold reads it: names, navigation, search, colours."""

from typing import Any

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Memory37",
    "SITE_HEADER": "Memory37",
    "SITE_SYMBOL": "menu_book",
    "SITE_URL": "/",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": "/static/memory37/icon.svg"}
    ],
    "SHOW_VIEW_ON_SITE": False,
    "THEME": "memory_site.admin_dashboard.theme",
    "STYLES": ["/static/memory37/admin_frame.css"],
    "SCRIPTS": ["/static/memory37/admin_frame.js"],
    "DASHBOARD_CALLBACK": "memory_site.admin_dashboard.dashboard",
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "memory_site.admin_sections.navigation",
    },
    # The palette's search itself is `memory_site.admin_site.Site.search`.
    "COMMAND": {"search_models": True, "show_history": True},
    "COLORS": {  # the papers and browns of static/memory37/site.css
        "base": {
            "50": "#fbfaf7",
            "100": "#f1eee6",
            "200": "#dfdcd3",
            "300": "#c9c5ba",
            "400": "#a9b0bb",
            "500": "#5a6270",
            "600": "#4a515c",
            "700": "#3b414c",
            "800": "#262a32",
            "900": "#1a1d22",
            "950": "#101215",
        },
        "primary": {
            "50": "#fbf5ef",
            "100": "#f5e6d6",
            "200": "#ebcdae",
            "300": "#e0a36f",
            "400": "#c97f45",
            "500": "#a95f28",
            "600": "#8a4518",
            "700": "#7a3b12",
            "800": "#5e2e10",
            "900": "#48240e",
            "950": "#2a1407",
        },
    },
    "BORDER_RADIUS": "4px",
}
