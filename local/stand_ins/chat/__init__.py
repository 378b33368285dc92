"""Google Chat on loopback: its REST API, its events, and the actions of people."""
