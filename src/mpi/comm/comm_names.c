/*
 * comm_names.c - names of communicators, and how those without one are described.
 *
 * A name belongs to the rank that set it: its state maps the communicator to an interned text, so
 * that a million ranks that set the same name keep one copy of the text.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/state.h"
#include "mpi_impl.h"

#define LABEL_MAX 160

struct text {
    struct text *next; /* with the same hash */
    uint64_t hash;
    uint32_t refs;
    uint32_t length;
    char bytes[];
};

static struct map texts; /* hash -> chain of struct text */

static struct text *text_intern(const char *bytes, uint32_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    struct text *t;

    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    uint64_t *head = map_insert(&texts, hash, NULL);
    for (t = (struct text *)(uintptr_t)*head; t; t = t->next)
        if (t->length == n && memcmp(t->bytes, bytes, n) == 0) {
            t->refs++;
            return t;
        }
    t = mem_alloc(sizeof *t + n + 1);
    *t = (struct text){(struct text *)(uintptr_t)*head, hash, 1, n};
    memcpy(t->bytes, bytes, n);
    t->bytes[n] = '\0';
    *head = (uint64_t)(uintptr_t)t;
    return t;
}

static void text_unref(struct text *t)
{
    uint64_t *head;
    struct text *at;

    if (--t->refs)
        return;
    head = map_find(&texts, t->hash);
    at = (struct text *)(uintptr_t)*head;
    if (at == t) {
        *head = (uint64_t)(uintptr_t)t->next;
    } else {
        while (at->next != t)
            at = at->next;
        at->next = t->next;
    }
    if (!*head)
        map_remove(&texts, t->hash);
    mem_free(t);
}

const char *mpi_text_keep(const char *text)
{
    return text_intern(text, (uint32_t)strlen(text))->bytes;
}

void mpi_text_drop(const char *text)
{
    if (text)
        text_unref((struct text *)(uintptr_t)(text - offsetof(struct text, bytes)));
}

void mpi_names_forget(struct mpi_rank *self, MPI_Comm comm)
{
    const uint64_t *own = mpi_state_find(self, MPI_STATE_names, (uint32_t)comm);

    if (!own)
        return;
    text_unref((struct text *)(uintptr_t)*own);
    mpi_state_remove(self, MPI_STATE_names, (uint32_t)comm);
}

/* The name as the rank knows it; "" if it has none. */
static const char *name_of(const struct mpi_rank *r, const struct mpi_comm *c)
{
    const uint64_t *own = mpi_state_find(r, MPI_STATE_names, (uint32_t)c->handle);

    if (own)
        return ((struct text *)(uintptr_t)*own)->bytes;
    return c->name ? c->name : "";
}

const char *mpi_comm_name_for(const struct mpi_rank *r, MPI_Comm comm)
{
    const struct mpi_comm *c = mpi_comm_at(comm);

    return c ? name_of(r, c) : "";
}

int mpi_comm_set_name(struct mpi_rank *self, MPI_Comm comm, const char *comm_name)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);
    struct text *t;

    if (rc)
        return rc;
    t = text_intern(comm_name, (uint32_t)strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
    mpi_names_forget(self, comm);
    *mpi_state_insert(self, MPI_STATE_names, (uint32_t)comm) = (uint64_t)(uintptr_t)t;
    return MPI_SUCCESS;
}

int mpi_comm_get_name(struct mpi_rank *self, MPI_Comm comm, char *comm_name, int *resultlen)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);
    const char *name;

    if (rc)
        return rc;
    name = name_of(self, c);
    *resultlen = (int)strlen(name);
    memcpy(comm_name, name, (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}

const char *mpi_comm_made(const struct mpi_comm *c, char *out, size_t n)
{
    uint32_t local = c->group->size;
    const char *origin = c->origin ? c->origin : "of the library";

    if (c->remote)
        snprintf(out, n, "%s, %u and %u ranks", origin, c->high ? c->remote->size : local,
                 c->high ? local : c->remote->size);
    else
        snprintf(out, n, "%s, %u rank%s", origin, local, local == 1 ? "" : "s");
    return out;
}

const char *mpi_comm_label(MPI_Comm comm, char *out, size_t n)
{
    const struct mpi_comm *c = mpi_comm_at(comm);
    const struct mpi_rank *self = mpi_self();
    const char *name = !c ? "" : self ? name_of(self, c) : c->name ? c->name : "";

    char made[LABEL_MAX];

    if (*name)
        snprintf(out, n, "%s", name);
    else if (c)
        snprintf(out, n, "communicator (%s)", mpi_comm_made(c, made, sizeof made));
    else
        snprintf(out, n, "communicator 0x%08x", (unsigned)comm);
    return out;
}
