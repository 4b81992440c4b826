"""Matrices that are submitted by themselves: fired in their slots, recorded when their runs are over."""
