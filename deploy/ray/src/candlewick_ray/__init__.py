"""Runs the shards of a candlewick sweep as tasks of a Ray cluster, and merges them."""
