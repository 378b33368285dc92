"""How a request is received, a step is run, and an outside service is called."""
