/*
 * otf2_names.c - definitions of the OTF2 writer that are found by name: strings, regions and
 * parameters; and communicators.
 */
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/otf2_out.h"

static uint64_t hash(const char *text, size_t length, uint64_t state)
{
    for (size_t i = 0; i < length; i++) {
        state = state * RNG_SPLITMIX_STEP ^ (uint8_t)text[i];
        state = rng_splitmix(&state);
    }
    return state;
}

static uint32_t intern(struct otf2_names *names, const char *text, size_t length, uint64_t kind,
                       int *is_new)
{
    uint64_t *number = map_insert(&names->by_hash, hash(text, length, kind + length), is_new);
    if (*is_new) {
        ARRAY_EXTEND(names->items, names->count);
        char *copy = mem_alloc(length + 1);
        memcpy(copy, text, length);
        copy[length] = '\0';
        names->items[names->count++] = (struct otf2_name){.text = copy};
        *number = names->count;
    }
    return (uint32_t)*number - 1;
}

uint32_t otf2_out_string(struct otf2_out *o, const char *text, size_t length)
{
    int is_new;
    const char *end = memchr(text, '\0', length); /* strings of OTF2 end at a NUL */
    return intern(&o->strings, text, end ? (size_t)(end - text) : length, 0, &is_new);
}

uint32_t otf2_out_region(struct otf2_out *o, const char *name, OTF2_RegionRole role, int is_mpi)
{
    int is_new;
    uint32_t number = intern(&o->regions, name, strlen(name), (uint64_t)is_mpi, &is_new);
    if (is_new) {
        struct otf2_name *item = &o->regions.items[number];
        item->string = otf2_out_string(o, name, strlen(name));
        item->kind = (uint8_t)role;
        item->is_mpi = (uint8_t)is_mpi;
    }
    return number;
}

uint32_t otf2_out_parameter(struct otf2_out *o, const char *name, OTF2_ParameterType type)
{
    int is_new;
    uint32_t number = intern(&o->parameters, name, strlen(name), type, &is_new);
    if (is_new) {
        o->parameters.items[number].string = otf2_out_string(o, name, strlen(name));
        o->parameters.items[number].kind = (uint8_t)type;
    }
    return number;
}

void otf2_names_fini(struct otf2_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        mem_free(names->items[i].text);
    mem_free(names->items);
    map_fini(&names->by_hash);
}

uint32_t otf2_out_comm(const struct trace *t, const struct trace_local_item *item)
{
    if (!item)
        return OTF2_UNDEFINED_COMM;
    if (item->identity == TRACE_COMM_WORLD)
        return 0;
    if (item->identity >> 63)
        return 1;
    const struct trace_comm *c = trace_definitions_comm(&t->definitions, item->identity);
    return c ? (uint32_t)(c - t->definitions.comms) + 2 : OTF2_UNDEFINED_COMM;
}
