"""Speed, as ratios of what is measured side by side in one run."""
