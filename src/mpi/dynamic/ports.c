/*
 * ports.c - the agents that keep names and ports (MPI-4.0, 11.9).
 *
 *     accept --->  agent of the rank that   <--- connect
 *     (group)      opened the port               (group)
 *                  makes the intercommunicator: the accepting side is the low one
 *            <---  low          high        --->
 *
 * The first to come waits in the port's queue, in order of arrival. The queue holds accepts or
 * connects, never both. Closing a port makes those that wait at it fail.
 */
#include "mpi/dynamic/ports.h"

#include <string.h>

#include "base/mem.h"
#include "mpi/create/create.h"
#include "mpi/p2p/service.h"
#include "mpi/state.h"

struct port {
    struct port *next;
    uint32_t number;
    struct engine_msg *first, *last; /* waiting requests, all of one kind */
};

/* A published name; those with the same hash are chained. */
struct name {
    struct name *next;
    char *port;  /* in `text`, behind the name */
    char text[]; /* the name */
};

/* The state of an agent. */
struct mpi_ports {
    struct port *open;
    uint32_t opened;  /* so far */
    struct map names; /* hash -> struct name */
};

static struct mpi_ports *ports_of(struct mpi_rank *self)
{
    struct mpi_ports *ports = mpi_state_ports(self);

    if (!ports) {
        ports = mpi_state_make(self, MPI_STATE_ports, sizeof *ports);
        map_init(&ports->names);
    }
    return ports;
}

/* Answers and frees the request. */
static void answer(struct mpi_rank *self, struct mpi_msg *m, int error, uint64_t value,
                   const char *text, vtime t)
{
    uint64_t bytes = text ? strlen(text) + 1 : 0;
    struct mpi_msg *a = mpi_service_answer(self, m, bytes);

    a->ctx = (uint32_t)error;
    a->bytes = value;
    a->tag = text != NULL;
    if (text)
        memcpy(a->payload, text, bytes);
    mpi_service_reply(a, bytes, t);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- ports ---- */

/* The link to the port with this number; *at is NULL if it is not open. */
static struct port **find_port(struct mpi_ports *p, uint64_t number)
{
    struct port **at = &p->open;

    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void open_port(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct mpi_ports *p = ports_of(self);
    struct port *port = mem_zalloc(sizeof *port);

    port->number = p->opened++;
    port->next = p->open;
    p->open = port;
    answer(self, m, MPI_SUCCESS, port->number, NULL, t);
}

static struct mpi_msg *take_first(struct port *port)
{
    struct engine_msg *m = port->first;

    port->first = m->next;
    if (!port->first)
        port->last = NULL;
    m->next = NULL;
    return (struct mpi_msg *)m;
}

static void close_port(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct port **at = find_port(ports_of(self), m->bytes), *port = *at;

    if (!port) {
        answer(self, m, MPI_ERR_PORT, 0, NULL, t);
        return;
    }
    *at = port->next;
    while (port->first)
        answer(self, take_first(port), MPI_ERR_PORT, 0, NULL, t);
    mem_free(port);
    answer(self, m, MPI_SUCCESS, 0, NULL, t);
}

static struct mpi_group *group_of(const struct mpi_msg *m)
{
    struct mpi_group_wire w;

    memcpy(&w, m->payload, sizeof w);
    return mpi_group_from_wire(&w, m->payload + sizeof w);
}

/* Sends both sides of a new intercommunicator their descriptors at time t. */
static void join_groups(struct mpi_rank *self, struct mpi_msg *accept, struct mpi_msg *connect,
                        vtime t)
{
    struct mpi_group *low = group_of(accept), *high = group_of(connect);
    struct mpi_group *both = mpi_gset_intersection(low, high);
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int error = both->size ? MPI_ERR_COMM : MPI_SUCCESS;

    mpi_group_unref(both);
    if (error) {
        mpi_group_unref(low);
        mpi_group_unref(high);
    } else {
        desc = mpi_comm_describe(mpi_comm_new_inter(low, high, MPI_ERRHANDLER_NULL),
                                 MPI_FN_COMM_CONNECT, NULL);
    }
    answer(self, accept, error, desc, NULL, t);
    answer(self, connect, error, mpi_comm_desc_high(desc), NULL, t);
}

static void come_to_port(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct port *port = *find_port(ports_of(self), m->bytes);

    if (!port) {
        answer(self, m, MPI_ERR_PORT, 0, NULL, t);
    } else if (port->first && ((struct mpi_msg *)port->first)->tag != m->tag) {
        struct mpi_msg *other = take_first(port);

        if (m->tag == PORTS_ACCEPT)
            join_groups(self, m, other, t);
        else
            join_groups(self, other, m, t);
    } else {
        m->em.next = NULL;
        if (port->last)
            port->last->next = &m->em;
        else
            port->first = &m->em;
        port->last = &m->em;
    }
}

/* ---- names ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

static struct name *find_name(struct mpi_ports *p, const char *text)
{
    uint64_t *head = map_find(&p->names, hash_of(text));
    struct name *n = head ? (struct name *)(uintptr_t)*head : NULL;

    while (n && strcmp(n->text, text))
        n = n->next;
    return n;
}

static void add_name(struct mpi_ports *p, const char *text)
{
    size_t length = strlen(text) + 1, bytes = length + strlen(text + length) + 1;
    struct name *n = mem_alloc(sizeof *n + bytes);
    uint64_t *head = map_insert(&p->names, hash_of(text), NULL);

    memcpy(n->text, text, bytes);
    n->port = n->text + length;
    n->next = (struct name *)(uintptr_t)*head;
    *head = (uintptr_t)n;
}

static void remove_name(struct mpi_ports *p, struct name *gone)
{
    uint64_t key = hash_of(gone->text), *head = map_find(&p->names, key);
    struct name *n = (struct name *)(uintptr_t)*head;

    if (n == gone && !gone->next) {
        map_remove(&p->names, key);
    } else if (n == gone) {
        *head = (uintptr_t)gone->next;
    } else {
        while (n->next != gone)
            n = n->next;
        n->next = gone->next;
    }
    mem_free(gone);
}

static void serve_name(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct mpi_ports *p = ports_of(self);
    struct name *n = find_name(p, m->payload);
    int error = MPI_SUCCESS;

    switch ((enum ports_ask)m->tag) {
    case PORTS_PUBLISH:
        if (n)
            error = MPI_ERR_NAME;
        else
            add_name(p, m->payload);
        break;
    case PORTS_LOOKUP:
        error = n ? MPI_SUCCESS : MPI_ERR_NAME;
        break;
    default:
        if (n)
            remove_name(p, n);
        else
            error = MPI_ERR_SERVICE;
    }
    answer(self, m, error, 0, n && m->tag == PORTS_LOOKUP ? n->port : NULL, t);
}

/* ---- the service ---- */

void ports_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    switch ((enum ports_ask)m->tag) {
    case PORTS_OPEN:
        open_port(self, m, t);
        break;
    case PORTS_CLOSE:
        close_port(self, m, t);
        break;
    case PORTS_ACCEPT:
    case PORTS_CONNECT:
        come_to_port(self, m, t);
        break;
    default:
        serve_name(self, m, t);
    }
}

void ports_reply(struct mpi_rank *self, struct mpi_msg *m)
{
    struct ports_answer *a = (struct ports_answer *)(uintptr_t)m->cookie;

    (void)self;
    a->error = (int)m->ctx;
    a->value = m->bytes;
    if (m->tag)
        strcpy(a->text, m->payload); /* its length was checked when it was published */
    a->arrival = m->em.arrival;
    a->done = 1;
    engine_msg_free(&mpi_world.engine, &m->em);
}
