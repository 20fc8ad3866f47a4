/*
 * shapes.c - the functions of a trace. A trace has its own numbers for functions, and records only
 * some of their arguments.
 */
#include <string.h>

#include "base/mem.h"
#include "calls/calls.h"

int calls_arg(const struct trace_fn *fn, const char *name)
{
    for (unsigned i = 0; i < fn->count; i++)
        if (strcmp(fn->args[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The position in events of argument number `arg` of this version's function, or -1. */
static signed char position(const struct trace_fn *fn, signed char arg)
{
    return arg < 0 ? -1 : (signed char)calls_arg(fn, mpi_fn_signature[fn->number].args[arg].name);
}

static struct mpi_effect shape_of(const struct trace_fn *fn)
{
    static const struct mpi_effect unknown = MPI_EFFECT_UNKNOWN;
    if (fn->number < 0)
        return unknown;
    struct mpi_effect s = mpi_fn_effect[fn->number];
#define SLOT(name) s.name = position(fn, s.name);
    MPI_EFFECT_SLOTS(SLOT)
#undef SLOT
    return s;
}

struct mpi_effect *calls_of(const struct trace_schema *schema)
{
    struct mpi_effect *shapes = mem_alloc((schema->count + 1) * sizeof *shapes);
    for (unsigned i = 0; i < schema->count; i++)
        shapes[i] = shape_of(&schema->fns[i]);
    return shapes;
}

int calls_find_form(const struct trace_schema *schema, const struct mpi_effect *shapes, unsigned fn,
                    unsigned form)
{
    for (unsigned i = 0; i < schema->count; i++)
        if (shapes[i].kind == shapes[fn].kind && shapes[i].base == shapes[fn].base &&
            shapes[i].is_wide == shapes[fn].is_wide && shapes[i].form == form)
            return (int)i;
    return -1;
}

int calls_blocks(const struct mpi_effect *s)
{
    if (s->form != MPI_FORM_BLOCKING && s->form != MPI_FORM_END)
        return 0;
    switch (s->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
    case MPI_DOES_COMPLETE:
    case MPI_DOES_PROBE:
    case MPI_DOES_DRAIN:
    case MPI_DOES_COLLECTIVE:
    case MPI_DOES_EPOCH:
        return 1;
    default:
        return 0;
    }
}
