/*
 * machine.h - the parameters of a machine, from measurements.
 *
 * Half a round trip of n bytes takes in model loggops
 *
 *     o_s(n) + L(n) + n G(n) + o_r(n)              up to the eager limit
 *     o_s(n) + 2 L(0) + L(n) + n G(n) + o_r(n)     beyond it: request, answer, data
 *
 * with pieces by size (platform/lists.h). All numbers are nanoseconds, or nanoseconds per byte.
 */
#ifndef CALIBRATE_MACHINE_H
#define CALIBRATE_MACHINE_H

#include "base/buf.h"
#include "calibrate/fit.h"
#include "calibrate/raw.h"
#include "platform/lists.h"

#define CALIBRATE_SEGMENTS_MAX (2 * CALIBRATE_PIECES_MAX)

struct calibrate_value {
    double value, range; /* value and half-width of its interval; INFINITY: unknown */
};

struct calibrate_segment {
    uint64_t from;
    size_t points;
    struct calibrate_value latency, per_byte;   /* L, G */
    struct calibrate_value send, send_per_byte; /* o_s, O_s */
    struct calibrate_value recv, recv_per_byte; /* o_r, O_r */
    int scaled; /* overheads longer than the whole were shortened, since they overlap with it */
};

/* Messages within a node, or between two. */
struct calibrate_curve {
    struct calibrate_segment segments[CALIBRATE_SEGMENTS_MAX];
    size_t count;               /* 0: not measured */
    uint64_t eager;             /* measured here */
    uint64_t limit;             /* of the machine, used by the model */
    struct calibrate_value gap; /* g; 0: hidden by the overheads */
    double interval;            /* measured, between small messages */
    int gap_measured;
};

/* T = a + b log2 p + c n log2 p. */
struct calibrate_collective {
    char kind[CALIBRATE_KIND_MAX];
    size_t points;
    size_t left_out; /* points with more ranks than cores */
    int has_constant, has_bytes;
    struct calibrate_value a, b, c;
    double error; /* median of relative errors */
};

#define CALIBRATE_COLLECTIVES_MAX 16

/* Factors on compute time when `busy` ranks of a node compute; at least 1. */
struct calibrate_sharing {
    uint32_t busy;
    double in_cache, streaming, random;
};

#define CALIBRATE_SHARING_MAX 64

/* What messages cost in real programs, besides their overheads. */
struct calibrate_use {
    int measured, peers_measured;
    double unexpected, unexpected_per_byte, request, match, peer;
};

struct calibrate_machine {
    struct calibrate_curve curves[2]; /* by enum calibrate_where */
    double clock, resolution, call, test;
    uint64_t eager_limit;
    double gap;
    struct calibrate_collective collectives[CALIBRATE_COLLECTIVES_MAX];
    size_t collective_count;
    struct calibrate_sharing sharing[CALIBRATE_SHARING_MAX]; /* by `busy` */
    size_t sharing_count;
    struct calibrate_use use;
};

/* ERR_INPUT if there are no round trips to fit. */
int calibrate_machine_fit(struct calibrate_machine *, const struct calibrate_raw *, struct err *);

/* Was the point disturbed? It was if a larger message of the same kind took half the time or less;
 * such points are not fitted. O(records). */
int calibrate_is_disturbed(const struct calibrate_raw *, const struct calibrate_record *);

/* Half a round trip, in ns. */
double calibrate_predict(const struct calibrate_curve *, uint64_t bytes);
double calibrate_collective_predict(const struct calibrate_collective *, uint32_t ranks,
                                    uint64_t bytes);

/* Fits the collectives in raw. */
void calibrate_collectives_fit(struct calibrate_machine *, const struct calibrate_raw *);

/* Fits the kernels and the messages in real use. The curves must be fitted already. */
void calibrate_sharing_fit(struct calibrate_machine *, const struct calibrate_raw *);
void calibrate_use_fit(struct calibrate_machine *, const struct calibrate_raw *);

/* How many sizes of a curve the model predicts well (report.h), and how many there are. */
void calibrate_fit_count(const struct calibrate_machine *, const struct calibrate_raw *,
                         enum calibrate_where, size_t *good, size_t *all);
/* Is that so few that the platform should not be trusted? */
int calibrate_fit_is_poor(size_t good, size_t all);

/* The machine as settings over the defaults. */
void calibrate_machine_settings(const struct calibrate_machine *, const struct calibrate_raw *,
                                const char *name, struct platform *);
/* Appends comments for the head of the platform file: fingerprint, quality, what was not
 * measured. */
void calibrate_machine_comments(const struct calibrate_machine *, const struct calibrate_raw *,
                                const char *date, struct buf *out);

#endif
