/*
 * tool_init.c - the tool information interface: start and end, texts, enumerations, categories.
 *
 * Categories are the sections of the machine's settings: the part before the dot of a control
 * variable's name. The performance variables are those of "mpi". No variable is an enumeration.
 */
#include <string.h>

#include "mpi/state.h"
#include "mpi/tool/tool_internal.h"
#include "mpi_impl.h"
#include "platform/config.h"

struct mpi_tool {
    uint32_t open; /* calls of MPI_T_init_thread without MPI_T_finalize */
};

int tool_ready(const struct mpi_rank *self)
{
    return mpi_state_tool(self) != NULL;
}

int mpi_t_init_thread(struct mpi_rank *self, int required, int *provided)
{
    struct mpi_tool *tool;

    if (!provided)
        return MPI_T_ERR_INVALID;
    tool = mpi_state_make(self, MPI_STATE_tool, sizeof *tool);
    tool->open++;
    *provided = required < MPI_THREAD_MULTIPLE ? required : MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int mpi_t_finalize(struct mpi_rank *self)
{
    struct mpi_tool *tool = mpi_state_tool(self);

    if (!tool)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (--tool->open == 0)
        mpi_state_free(self, MPI_STATE_tool);
    return MPI_SUCCESS;
}

void tool_text(const char *text, char *out, int *length)
{
    int full = (int)strlen(text) + 1;

    if (!length)
        return;
    if (out && *length > 0) {
        int n = full <= *length ? full : *length;

        memcpy(out, text, (size_t)n);
        out[n - 1] = '\0';
    }
    *length = full;
}

int mpi_t_enum_get_info(struct mpi_rank *self, MPI_T_enum enumtype, int *num, char *name,
                        int *name_len)
{
    (void)enumtype;
    (void)num;
    (void)name;
    (void)name_len;
    return tool_ready(self) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

int mpi_t_enum_get_item(struct mpi_rank *self, MPI_T_enum enumtype, int indx, int *value,
                        char *name, int *name_len)
{
    (void)enumtype;
    (void)indx;
    (void)value;
    (void)name;
    (void)name_len;
    return tool_ready(self) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

/* ---- categories ---- */

static const struct {
    const char *name, *text;
} categories[] = {
    {"nodes", "the simulated machine's nodes"},
    {"net", "the simulated network"},
    {"mpi", "the virtual MPI library"},
};
#define CATEGORIES ((int)(sizeof categories / sizeof categories[0]))

static int cvar_is_in(size_t cvar, int category)
{
    const char *key = platform_config_key(cvar);
    size_t n = strlen(categories[category].name);

    return strncmp(key, categories[category].name, n) == 0 && key[n] == '.';
}

static int pvars_in(int category)
{
    return strcmp(categories[category].name, "mpi") == 0 ? tool_pvar_count() : 0;
}

static int cvars_in(int category)
{
    int n = 0;

    for (size_t i = 0; i < platform_config_count(); i++)
        n += cvar_is_in(i, category);
    return n;
}

/* MPI_SUCCESS if the call may ask about the category. */
static int check(const struct mpi_rank *self, int category)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    return category >= 0 && category < CATEGORIES ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int mpi_t_category_get_num(struct mpi_rank *self, int *num_cat)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_cat)
        return MPI_T_ERR_INVALID;
    *num_cat = CATEGORIES;
    return MPI_SUCCESS;
}

/* Categories never change. */
int mpi_t_category_changed(struct mpi_rank *self, int *update_number)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!update_number)
        return MPI_T_ERR_INVALID;
    *update_number = 0;
    return MPI_SUCCESS;
}

int mpi_t_category_get_info(struct mpi_rank *self, int cat_index, char *name, int *name_len,
                            char *desc, int *desc_len, int *num_cvars, int *num_pvars,
                            int *num_categories)
{
    int rc = check(self, cat_index);

    if (rc)
        return rc;
    tool_text(categories[cat_index].name, name, name_len);
    tool_text(categories[cat_index].text, desc, desc_len);
    tool_tell(num_cvars, cvars_in(cat_index));
    tool_tell(num_pvars, pvars_in(cat_index));
    tool_tell(num_categories, 0);
    return MPI_SUCCESS;
}

int mpi_t_category_get_index(struct mpi_rank *self, const char *name, int *cat_index)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !cat_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < CATEGORIES; i++)
        if (strcmp(categories[i].name, name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

int mpi_t_category_get_cvars(struct mpi_rank *self, int cat_index, int len, int indices[])
{
    int rc = check(self, cat_index), n = 0;

    if (rc)
        return rc;
    if (len && !indices)
        return MPI_T_ERR_INVALID;
    for (size_t i = 0; i < platform_config_count() && n < len; i++)
        if (cvar_is_in(i, cat_index))
            indices[n++] = (int)i;
    return MPI_SUCCESS;
}

int mpi_t_category_get_pvars(struct mpi_rank *self, int cat_index, int len, int indices[])
{
    int rc = check(self, cat_index);

    if (rc)
        return rc;
    if (len && !indices)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < pvars_in(cat_index) && i < len; i++)
        indices[i] = i;
    return MPI_SUCCESS;
}

/* None has subcategories or events. */
int mpi_t_category_get_categories(struct mpi_rank *self, int cat_index, int len, int indices[])
{
    (void)len;
    (void)indices;
    return check(self, cat_index);
}

int mpi_t_category_get_events(struct mpi_rank *self, int cat_index, int len, int indices[])
{
    (void)len;
    (void)indices;
    return check(self, cat_index);
}

int mpi_t_category_get_num_events(struct mpi_rank *self, int cat_index, int *num_events)
{
    int rc = check(self, cat_index);

    if (!rc)
        tool_tell(num_events, 0);
    return rc;
}
