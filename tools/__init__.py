"""What prepares, checks and packages threadwise. Standard library only, except `lock`."""
