"""Chaos: many generations on a real server, each under one fault, judged by a checker that does not know the product."""
