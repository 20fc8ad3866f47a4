/*
 * The table of network models, and the choice by name. A new model is one file with a
 * struct net_ops, and one line here.
 */
#include "net/net.h"

#include <string.h>

#include "base/nearest.h"
#include "net/net_internal.h"

static const struct net_ops *const models[] = {
    &net_constant_ops,
};
#define MODELS (sizeof models / sizeof models[0])

/* Says what is wrong with the name and lists the models. */
static int unknown_model(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    char list[256] = "";
    for (size_t i = 0; i < MODELS; i++) {
        nearest_offer(&nearest, models[i]->name);
        size_t used = strlen(list);
        if (used + strlen(models[i]->name) + 3 < sizeof list) {
            strcpy(list + used, i ? ", " : "");
            strcat(list, models[i]->name);
        }
    }
    if (nearest.best)
        return err_set(err, ERR_INPUT, "net.model: unknown model '%s': did you mean '%s'?", name,
                       nearest.best);
    return err_set(err, ERR_INPUT, "net.model: unknown model '%s': expected one of: %s", name,
                   list);
}

int net_init(struct net *net, const struct platform_config *config, struct err *err)
{
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(models[i]->name, config->net_model) == 0) {
            memset(net, 0, sizeof *net);
            net->ops = models[i];
            return net->ops->init(net, config, err);
        }
    }
    return unknown_model(config->net_model, err);
}
