/*
 * env.h - names of environment variables that tie the command and the library together.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

/* Descriptor of the run page; its presence makes the preloaded library take the process over. */
#define ENV_RUN_FD "ORRERY_RUN_FD"

/* Name of the host that runs the ranks (vp/host.h), which the library must know as soon as it is loaded. */
#define ENV_HOST "ORRERY_HOST"

/* A memory file that the `orrery run` that started the workers shares with them. */
#define ENV_TEAM "ORRERY_TEAM"

/* The same for the file in which the workers' output waits. */
#define ENV_BOOKS "ORRERY_TEAM_BOOKS"

/* Its table of which process has which rank, if there is one. */
#define ENV_PLACEMENT "ORRERY_PLACEMENT"

/* Its description of the machine to simulate. */
#define ENV_MACHINE "ORRERY_MACHINE"

/* Path of the native MPI library to use with several processes, for users. */
#define ENV_NATIVE_MPI "ORRERY_NATIVE_MPI"

#endif
