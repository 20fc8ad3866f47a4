# What the examples share. An example's Makefile sets PROGRAM, if it has one, includes this file, and adds the
# targets `demo` and `test`. ORRERY is the simulator and OUT the folder to build in. By default they are those of
# the source tree around this folder; in a copy of the examples alone, the orrery on PATH and a folder `out`.

HERE := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
TREE := $(wildcard $(HERE)/../include/orrery.h)
ORRERY ?= $(if $(TREE),$(HERE)/../build/orrery,orrery)
OUT ?= $(HERE)/$(if $(TREE),../build/examples,out)/$(notdir $(CURDIR))
MPICC ?= mpicc.mpich
MPIEXEC ?= mpiexec.mpich
# Where orrery.h is; an installed one may be where the compiler looks anyway.
CFLAGS_ORRERY := $(if $(TREE),-I$(HERE)/../include,$(shell pkg-config --cflags orrery 2>/dev/null))

BINARY = $(OUT)/$(PROGRAM)

# $(call simulate,OPTIONS,ARGUMENTS), $(call native,RANKS,ARGUMENTS)
simulate = $(ORRERY) run $(1) $(BINARY) $(2)
native = $(MPIEXEC) -n $(1) $(BINARY) $(2)

# $(call expect,COMMAND,TEXT): COMMAND must succeed and print TEXT.
expect = { $(1) >$(BINARY).out && grep -qF -- '$(2)' $(BINARY).out; } || \
	{ echo "failed, or did not print '$(2)':"; cat $(BINARY).out; exit 1; }

.PHONY: all demo test native
.DEFAULT_GOAL := all

ifndef PROGRAM
all: demo
else
all: $(BINARY)

$(BINARY): $(PROGRAM).c $(TREE) | $(OUT)
	$(MPICC) -O2 -Wall -Wextra $(CFLAGS_ORRERY) -o $@ $< -lm
endif

$(OUT):
	@mkdir -p $@
