"""The whole site as real processes, which are killed, paused and cut off while it is written to."""
