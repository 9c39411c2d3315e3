"""A backup of the whole installation in one file, and its restoration.

The file is a tar: `manifest.json` first, then `database.dump` (of pg_dump), `secret_key` and the
files of pictures and imports under `files/`. All of it is of one moment. It may be encrypted to a
public key (the format of age, so the program `age` reads it too).
"""
