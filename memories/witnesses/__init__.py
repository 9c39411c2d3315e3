"""What NPCs remember of episodes: those whom they witnessed, and those of which they heard."""
