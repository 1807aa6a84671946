"""The coach's rules as tables: which questions are about health, and what an answer may not say."""
