"""The PostgreSQL that comes with the project: used when no DATABASE_URL is set.

`server` runs it (one folder, one server, also as root, also after a crash); the database backend
starts it on the first connection. The last process that used it stops it.
"""
