"""threadwise on one machine: stand-ins for Google's services, the chat page, and the runner that starts them.

The page may import the stand-ins, and the runner may import both.
"""
