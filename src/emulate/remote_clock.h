/*
 * remote_clock.h - real time on other computers.
 *
 * A process on another computer has a clock of its own, and a copy of the line between real and
 * simulated time (pace.h). Two threads talk by a connection: one on the simulator's computer
 * measures how far the other clock is ahead, again and again, since clocks drift, and sends that
 * with every change of the line.
 *
 *     simulator's computer          other computer
 *     a ---- what is the time? --->
 *     b <--------- c --------------                 it is ahead by c - (a + b) / 2
 *
 * Of some answers that which came soonest counts: its error is at most half of the time it took.
 */
#ifndef EMULATE_REMOTE_CLOCK_H
#define EMULATE_REMOTE_CLOCK_H

#include "emulate/pace.h"

/* Until the connection is closed. */
void emulate_clock_serve(int fd, const struct emulate_pace *);
void emulate_clock_follow(int fd, struct emulate_pace *mine);

#endif
