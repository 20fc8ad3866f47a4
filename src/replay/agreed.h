/*
 * agreed.h - what the command and the replayer agree on.
 */
#ifndef REPLAY_AGREED_H
#define REPLAY_AGREED_H

#define REPLAY_NAME "orrery-replay-mpi"
#define REPLAY_IDLE_LIMIT "--idle-limit" /* its option: picoseconds */
/* Appended to the name of a part: events, remapped, drawn, forced and removed ones of a process, as
 * text. */
#define REPLAY_COUNTS ".counts"
/* Appended to the name of a part: a file that exists while a rank waits in a call in real time.
 * Rank, steps so far, when the call began in picoseconds, what was done otherwise than recorded;
 * and the call. */
#define REPLAY_STUCK ".stuck"
#define REPLAY_STUCK_FORMAT "%llu %llu %lld %llu "

#endif
