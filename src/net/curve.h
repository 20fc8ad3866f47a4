/*
 * curve.h - the cost of a message as a piecewise function of its size.
 *
 *     latency(n)  = that of the piece n falls into
 *     transfer(n) = n * ps_per_byte of the piece
 *     send(n), recv(n) = overhead + n * overhead per byte of the piece
 *
 * A piece applies from its first size up to the next piece. Inverse bandwidths are in 2^-20 ps per
 * byte, so 1 Gbit/s (8000 ps per byte) is exact and 100 Gbit/s (80 ps) too; the rounding of other
 * values is below 10^-6 ps per byte.
 */
#ifndef NET_CURVE_H
#define NET_CURVE_H

#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"
#include "platform/lists.h"

struct net_piece {
    uint64_t from;
    vtime latency;
    double bandwidth;     /* bits per second, after factors */
    uint64_t ps_per_byte; /* 44.20 */
    vtime send, recv;
    uint64_t send_per_byte, recv_per_byte; /* 44.20 */
};

struct net_curve {
    struct net_piece *pieces; /* by `from`, the first is 0 */
    uint32_t count;
};

/* The curve between nodes (after factors) or within a node. */
int net_curve_init(struct net_curve *, const struct platform *, int intra, struct err *);
void net_curve_fini(struct net_curve *);

/* Picoseconds per byte as 44.20 fixed point; ERR_INPUT names the setting if it is too slow. */
int net_inverse(double bandwidth, const char *setting, uint64_t *out, struct err *);

/* Time per 1024 bytes as 44.20 fixed point per byte. */
static inline uint64_t net_per_byte(vtime per_kib)
{
    return (uint64_t)(per_kib < VTIME_LIMIT >> 10 ? per_kib : VTIME_LIMIT >> 10) << 10;
}

static inline const struct net_piece *net_curve_at(const struct net_curve *c, uint64_t bytes)
{
    uint32_t low = 0, high = c->count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (c->pieces[mid].from <= bytes)
            low = mid;
        else
            high = mid;
    }
    return &c->pieces[low];
}

/* The smallest latency of all pieces. */
vtime net_curve_least_latency(const struct net_curve *);

#endif
