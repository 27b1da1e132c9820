"""The ground that four-seat trick-taking games stand on; it knows no game."""
