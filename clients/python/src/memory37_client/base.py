"""The base of the answers."""

from pydantic import BaseModel, ConfigDict


class OpenModel(BaseModel):
    """An answer of the server. Fields that a later server adds are kept and readable."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)
