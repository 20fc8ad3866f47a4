/*
 * env.h - names of environment variables that tie the command and the library together.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

/* Descriptor of the run page; its presence makes the preloaded library take the process over. */
#define ENV_RUN_FD "ORRERY_RUN_FD"

#endif
