# What the examples share. An example's Makefile sets PROGRAM, includes this file, and adds the
# targets `demo` and `test`. From outside come ORRERY, the simulator, and OUT, where to build.

HERE := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ORRERY ?= $(HERE)/../build/orrery
OUT ?= $(HERE)/../build/examples
MPICC ?= mpicc.mpich
MPIEXEC ?= mpiexec.mpich

BINARY = $(OUT)/$(PROGRAM)

# $(call simulate,OPTIONS,ARGUMENTS), $(call native,RANKS,ARGUMENTS)
simulate = $(ORRERY) run $(1) $(BINARY) $(2)
native = $(MPIEXEC) -n $(1) $(BINARY) $(2)

# $(call expect,COMMAND,TEXT): COMMAND must succeed and print TEXT.
expect = { $(1) >$(BINARY).out && grep -qF -- '$(2)' $(BINARY).out; } || \
	{ echo "failed, or did not print '$(2)':"; cat $(BINARY).out; exit 1; }

.PHONY: all demo test native
.DEFAULT_GOAL := all

all: $(BINARY)

$(BINARY): $(PROGRAM).c $(HERE)/../include/orrery.h
	@mkdir -p $(OUT)
	$(MPICC) -O2 -Wall -Wextra -I$(HERE)/../include -o $@ $< -lm
