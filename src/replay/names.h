/*
 * names.h - what the command and the replayer agree on.
 */
#ifndef REPLAY_NAMES_H
#define REPLAY_NAMES_H

#define REPLAY_NAME "orrery-replay-mpi"
/* Appended to the name of a part: events, remapped, drawn, forced and removed ones of a process, as
 * text. */
#define REPLAY_COUNTS ".counts"

#endif
