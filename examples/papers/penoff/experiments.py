"""Penoff et al.: programs on a packet-level network, slowed down."""

NAME = "penoff"
TITLE = "Penoff et al.: MPI-NeTSim"
SOURCE = ""
EXPERIMENTS = []
