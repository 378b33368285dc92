"""Takes a `Question`, rewrites a follow-up so that it stands alone, gives `search_query` on `queries`."""
