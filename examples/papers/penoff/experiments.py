"""Penoff et al.: programs on a packet-level network, slowed down."""

NAME = "penoff"
TITLE = "Penoff et al.: MPI-NeTSim"
SOURCE = ("B. Penoff, A. Wagner, M. Tüxen, I. Rüngeler, *MPI-NeTSim: A network simulation module for MPI*, 2009. Their machine: 8 cores, "
          "four processes and the simulator (OMNeT++, SCTP).")
EXPERIMENTS = []
