//! Pure mathematics of the edge: break-even, intervals, tests.
