/*
 * fail.c - what cannot be replayed: the program that replays decides what follows.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/replay.h"

void replay_fail(struct replay_rank *k, const char *format, ...)
{
    char why[200];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    k->replay->program->fail(k, why);
    abort(); /* it does not return */
}

void replay_failed(struct replay_rank *k, int rc)
{
    k->replay->program->failed(k, rc);
}
