"""What starts and installs the course: standard library only."""
