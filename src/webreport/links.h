/*
 * links.h - the load of links: the messages of a trace, routed through the topology of a machine.
 */
#ifndef WEBREPORT_LINKS_H
#define WEBREPORT_LINKS_H

#include "analysis/analysis.h"
#include "base/json.h"
#include "platform/lists.h"
#include "webreport/chunk.h"

#define LINKS_DRAWN \
    3000 /* vertices: of larger topologies only so many links are drawn, those that carried most */
#define LINKS_LISTED 20

struct topo;

struct links {
    struct topo *topo;
    const struct platform *machine;
    double runtime;
    struct link_load {
        uint32_t link;
        double bytes;
    } * loads; /* of links in use, most first */
    size_t count;
};

/* Routes the traffic between nodes as the machine does when nothing else is under way. What
 * collectives send within themselves is not in it. ERR_INPUT: the machine has not the nodes of the
 * trace, or no route between two. */
int links_init(struct links *, const struct platform *, const struct analysis *, struct err *);
void links_fini(struct links *);

/* Writes the member "links" of an object that is open. */
void links_write(const struct links *, struct chunks *, struct json *);

#endif
