"""Foreign git repositories, cloned bare and read as streams. Nothing is ever checked out."""
