/*
 * ports_api.c - MPI_Open_port to MPI_Comm_connect: the client side (MPI-4.0, 11.9).
 *
 * Every call sends a request to an agent (ports.h) and waits for its answer. An error at the root
 * of MPI_Comm_accept or MPI_Comm_connect is raised on all ranks of the communicator.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi/dynamic/ports.h"
#include "mpi/info.h"
#include "mpi/p2p/service.h"
#include "mpi_impl.h"

#define PORT_FORMAT "orrery-port-%u.%u"

/* ---- requests ---- */

static struct mpi_msg *question(struct mpi_rank *self, uint32_t dst, enum ports_ask what,
                                uint64_t payload)
{
    struct mpi_msg *m = mpi_service_new(self, dst, MPI_SERVICE_NAMES, payload);

    m->tag = (int32_t)what;
    return m;
}

/* Sends the request and waits for the answer; a deadlock report shows `where` if none comes. May
 * switch. Returns the MPI class of the answer. */
static int ask(struct mpi_rank *self, struct mpi_msg *m, uint64_t bytes, const char *where,
               struct ports_answer *a)
{
    struct mpi_req shown = {.kind = MPI_REQ_WORK, .mode = MPI_MODE_PORT, .buf = (void *)where};

    a->done = 0;
    m->cookie = (uintptr_t)a;
    mpi_clock_add(self, mpi_world.send_overhead);
    mpi_service_send(m, (struct device_send){.t = self->ent.clock, .bytes = bytes});
    mpi_service_await(self, &a->done, &a->arrival, &shown);
    return a->error;
}

static int check_info(struct mpi_rank *self, MPI_Info info)
{
    if (info == MPI_INFO_NULL || mpi_info_exists(info))
        return MPI_SUCCESS;
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO, "0x%08x is not an info object",
                     (unsigned)info);
}

/* ---- ports ---- */

/* Rank and number of a port; 0 if the text is not a port's name. */
static int read_port(const char *name, uint32_t *rank, uint32_t *number)
{
    char same[MPI_MAX_PORT_NAME];

    if (!name || sscanf(name, PORT_FORMAT, rank, number) != 2 || *rank >= mpi_world.room)
        return 0;
    snprintf(same, sizeof same, PORT_FORMAT, *rank, *number);
    return strcmp(name, same) == 0;
}

int mpi_open_port(struct mpi_rank *self, MPI_Info info, char *port_name)
{
    struct ports_answer a;
    int rc = check_info(self, info);

    if (rc)
        return rc;
    ask(self, question(self, mpi_rank_id(self), PORTS_OPEN, 0), 0, NULL, &a);
    snprintf(port_name, MPI_MAX_PORT_NAME, PORT_FORMAT, mpi_rank_id(self), (unsigned)a.value);
    return MPI_SUCCESS;
}

int mpi_close_port(struct mpi_rank *self, const char *port_name)
{
    struct ports_answer a;
    uint32_t rank, number;
    struct mpi_msg *m;
    int error = MPI_ERR_PORT;

    if (read_port(port_name, &rank, &number)) {
        m = question(self, rank, PORTS_CLOSE, 0);
        m->bytes = number;
        error = ask(self, m, 0, NULL, &a);
    }
    return error ? mpi_raise(self, MPI_COMM_NULL, error, "'%s' is not an open port", port_name)
                 : MPI_SUCCESS;
}

/* ---- MPI_Comm_accept, MPI_Comm_connect ---- */

/* What the root tells the others. */
struct meeting {
    int32_t error;
    mpi_comm_desc desc;
};

/* At the root: sends the group of c to the port, and waits there for the other side. */
static struct meeting meet(struct mpi_rank *self, const struct mpi_comm *c, const char *port_name,
                           enum ports_ask what)
{
    struct mpi_group *g;
    struct mpi_group_wire w;
    struct ports_answer a;
    struct mpi_msg *m;
    uint32_t rank, number;
    uint64_t list;
    int error;

    if (!read_port(port_name, &rank, &number))
        return (struct meeting){MPI_ERR_PORT, MPI_COMM_DESC_NULL};
    g = mpi_comm_group_ref(self, c);
    w = mpi_group_to_wire(g);
    list = mpi_group_wire_list(&w) * sizeof *g->list;
    m = question(self, rank, what, sizeof w + list);
    m->bytes = number;
    memcpy(m->payload, &w, sizeof w);
    if (list)
        memcpy(m->payload + sizeof w, g->list, list);
    mpi_group_unref(g);
    error = ask(self, m, sizeof w + list, port_name, &a);
    return (struct meeting){error, (mpi_comm_desc)a.value};
}

static int raise_meeting(struct mpi_rank *self, MPI_Comm comm, int error)
{
    if (error == MPI_ERR_PORT)
        return mpi_raise(self, comm, error, "the root gave a port that is not open");
    return mpi_raise(self, comm, error, "the two groups have common members");
}

static int meet_all(struct mpi_rank *self, const char *port_name, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *newcomm, enum ports_ask what)
{
    struct mpi_comm *c;
    struct meeting met = {MPI_SUCCESS, MPI_COMM_DESC_NULL};
    int rc = mpi_check_intra(self, comm, &c), is_root;

    if (rc)
        return rc;
    is_root = mpi_comm_my_rank(c, self) == root;
    if (is_root && (rc = check_info(self, info)))
        return rc;
    if (is_root)
        met = meet(self, c, port_name, what);
    rc = mpi_coll_bcast(self, c, &met, sizeof met, mpi_type_get(MPI_BYTE), root);
    if (rc)
        return rc;
    if (met.error)
        return raise_meeting(self, comm, met.error);
    *newcomm = mpi_comm_adopt(self, c, met.desc);
    return MPI_SUCCESS;
}

int mpi_comm_accept(struct mpi_rank *self, const char *port_name, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *newcomm)
{
    return meet_all(self, port_name, info, root, comm, newcomm, PORTS_ACCEPT);
}

int mpi_comm_connect(struct mpi_rank *self, const char *port_name, MPI_Info info, int root,
                     MPI_Comm comm, MPI_Comm *newcomm)
{
    return meet_all(self, port_name, info, root, comm, newcomm, PORTS_CONNECT);
}

/* ---- names ---- */

/* port_name: NULL except for PUBLISH. */
static int ask_for_name(struct mpi_rank *self, enum ports_ask what, const char *service_name,
                        const char *port_name, struct ports_answer *a)
{
    uint64_t name = strlen(service_name) + 1, port = port_name ? strlen(port_name) + 1 : 0;
    struct mpi_msg *m = question(self, 0, what, name + port);

    memcpy(m->payload, service_name, name);
    if (port)
        memcpy(m->payload + name, port_name, port);
    return ask(self, m, name + port, NULL, a);
}

int mpi_publish_name(struct mpi_rank *self, const char *service_name, MPI_Info info,
                     const char *port_name)
{
    struct ports_answer a;
    int rc = check_info(self, info);

    if (rc)
        return rc;
    if (strlen(port_name) >= MPI_MAX_PORT_NAME)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_PORT,
                         "the name of the port is longer than MPI_MAX_PORT_NAME");
    rc = ask_for_name(self, PORTS_PUBLISH, service_name, port_name, &a);
    return rc ? mpi_raise(self, MPI_COMM_NULL, rc, "'%s' is published already", service_name)
              : MPI_SUCCESS;
}

int mpi_lookup_name(struct mpi_rank *self, const char *service_name, MPI_Info info, char *port_name)
{
    struct ports_answer a = {.text = port_name};
    int rc = check_info(self, info);

    if (rc)
        return rc;
    rc = ask_for_name(self, PORTS_LOOKUP, service_name, NULL, &a);
    return rc ? mpi_raise(self, MPI_COMM_NULL, rc, "'%s' is not published", service_name)
              : MPI_SUCCESS;
}

int mpi_unpublish_name(struct mpi_rank *self, const char *service_name, MPI_Info info,
                       const char *port_name)
{
    struct ports_answer a;
    int rc = check_info(self, info);

    (void)port_name;
    if (rc)
        return rc;
    rc = ask_for_name(self, PORTS_UNPUBLISH, service_name, NULL, &a);
    return rc ? mpi_raise(self, MPI_COMM_NULL, rc, "'%s' is not published", service_name)
              : MPI_SUCCESS;
}
