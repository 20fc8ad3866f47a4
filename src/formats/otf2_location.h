/*
 * otf2_location.h - a location of an OTF2 archive while it is read.
 */
#ifndef FORMATS_OTF2_LOCATION_H
#define FORMATS_OTF2_LOCATION_H

#include "formats/otf2_in.h"

/* An event in a call. */
enum otf2_call_event_kind {
    OTF2_DID_SENT,
    OTF2_DID_RECEIVED,
    OTF2_DID_POSTED,
    OTF2_DID_SEND_DONE,
    OTF2_DID_RECV_DONE,
    OTF2_DID_COLL_DONE,
    OTF2_DID_TESTED,
    OTF2_DID_CANCELLED,
    OTF2_DID_COLLECTIVE,
    OTF2_DID_ONE_SIDED
};

struct otf2_call_event {
    enum otf2_call_event_kind kind;
    int64_t request; /* its new number */
    struct otf2_result what;
};

/* An argument from a parameter. */
struct otf2_argument {
    unsigned arg;
    unsigned part; /* of a status */
    int64_t value;
    const char *text;
};

struct otf2_location_state {
    struct otf2_in *in;
    const struct otf2_location *location;
    int is_first; /* the first pass */
    /* open regions */
    struct open {
        uint32_t region;
        int64_t enter;
        int fn; /* -1: not an MPI call, or one within another */
    } * open;
    size_t depth, calls; /* calls: of MPI; at most one */
    int fn;              /* of that call */
    int64_t last;
    /* of the call */
    struct otf2_call_event *events;
    size_t event_count;
    struct otf2_argument *arguments;
    size_t argument_count;
    int failed;
    uint64_t site;
    /* requests */
    struct map requests; /* to number + 1 */
    struct map results;  /* to index + 1, in the first pass */
    int64_t next_request;
    size_t next_result;
    struct map wins; /* to local number + 1 */
    /* memory of the call under construction */
    int64_t *items;
    size_t item_count;
    struct trace_status *statuses;
    size_t status_count;
};

/* The local number of a communicator; -1: it is not defined. */
int64_t otf2_local_comm(struct otf2_location_state *, uint32_t ref);

/* Derives the arguments of a call to this function from its events. */
void otf2_call_assemble(struct otf2_location_state *, struct format_call *, int fn);
/* Sets the arguments from parameters. */
void otf2_call_fill(struct otf2_location_state *, struct format_call *);

/* ---- otf2_events.c ---- */

/* The first parameters of all callbacks. */
#define OTF2_STANDARD \
    OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data, OTF2_AttributeList *attributes

/* Begins a callback: the state, with the time of the record. */
struct otf2_location_state *otf2_at_time(void *data, OTF2_TimeStamp t);
/* Whether the record counts in this pass: the first, or the second. */
int otf2_counts(struct otf2_location_state *, int in_first);
/* Adds an event to the call that is open. */
void otf2_add_event(struct otf2_location_state *, enum otf2_call_event_kind, int64_t request,
                    struct otf2_result);

/* ---- otf2_windows.c ---- */

void otf2_window_callbacks(OTF2_EvtReaderCallbacks *);

#endif
