"""Scripts that prepare, check, package and deploy threadwise. Standard library only, except `lock`."""
