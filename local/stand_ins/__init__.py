"""Stand-ins for Google's services on loopback, one folder a service."""
