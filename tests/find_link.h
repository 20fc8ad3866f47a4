/* Links by the names of their ends, as net.links has them. */
#ifndef FIND_LINK_H
#define FIND_LINK_H

#include "net/topology/changes.c" /* how names are read */

/* The number of the link between two vertices (n12, s3); if there are several cables, the first, or
 * cable k if one of the names ends in #k. ERR_INPUT: there is none. */
static inline int find_link(const struct topo *t, const char *from, const char *to, uint32_t *link,
                            struct err *err)
{
    struct pair pair;
    uint32_t i = 0, found;
    int seen = 0, e = parse_pair(t, from, to, &pair, err);
    if (e)
        return e;
    if (!next_link(t, &pair, &i, &seen, &found))
        return err_set(err, ERR_INPUT, "there is no link from '%s' to '%s'", from, to);
    *link = found;
    return 0;
}

#endif
