/*
 * emulated.h - what an emulation measured (struct run_emulated), as part of the results of a run.
 */
#ifndef RESULTS_EMULATED_H
#define RESULTS_EMULATED_H

#include "base/buf.h"
#include "base/json.h"
#include "run/run.h"

/* Lines of the summary, and members of the JSON object; nothing if the run was no emulation. */
void results_emulated_text(const struct run_page *, struct buf *out);
void results_emulated_json(const struct run_page *, struct json *);

#endif
