"""What stops a backup or a restoration; the message says what to do."""


class BackupError(Exception):
    pass
