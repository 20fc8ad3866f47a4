/*
 * live.h - the word that a process of `orrery hybrid` shows to the simulators (proc_link.show).
 *
 *     | process id | calls so far | left | asks | inside |
 *     64          32              3      2      1        0
 *
 * A simulator shows LIVE_ANSWERED or nothing.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#define LIVE_INSIDE 1   /* it is in a call, or waits for an answer; also if nothing can be shown */
#define LIVE_ASKS 2     /* it waits for an answer */
#define LIVE_LEFT 4     /* it has left, and waits for nobody */
#define LIVE_ANSWERED 4 /* of a simulator: a process has not noticed its answer yet */
#define LIVE_CALLS_SHIFT 3
#define LIVE_PID_SHIFT 32

#endif
