"""The version of the product, which every interface reports."""

VERSION = "0.1.0"
