"""The version of the product, told by every door."""

VERSION = "0.1.0"
