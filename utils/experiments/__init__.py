"""The experiments that made what utils/data/ holds, and the law that lesson 08 measures."""
