"""Stand-ins for Google's services on loopback, one folder per service.

They do what the bot, its operators and the tests call. Everything else answers UNIMPLEMENTED.
"""
