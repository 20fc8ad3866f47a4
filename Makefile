# The front door: `make demo`, `make check`, `make bench` and `make papers` do all set-up on a fresh Debian machine,
# and so does `make setup` alone. No other target calls the package manager. Everything else is Meson's; see
# CONTRIBUTING.md.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# More options of `meson setup`, such as -Db_lto=false: what is built here is optimised at link time.
SETUP ?=

PACKAGES = gcc g++ gfortran libc6-dev make meson ninja-build pkgconf python3 mpich libmpich-dev libmetis-dev libyajl-dev libyaml-dev libdw-dev libexpat1-dev libxxhash-dev libzstd-dev libotf2-trace-dev libnlopt-dev libusrsctp-dev mandoc zlib1g-dev
# For the front end of reports; not needed if npm is there by other means.
WEB_PACKAGES = nodejs npm
# Plots of the papers' evaluations.
PAPERS_PACKAGES = python3-matplotlib
# For the tests alone: a Debian package is built, completion tried in shells, reports in a browser, traces are read by
# the tools of others, packets by tshark, and a cluster is made of network namespaces.
CHECK_PACKAGES = $(PAPERS_PACKAGES) chromium clang-format-14 debhelper dpkg-dev fish git iproute2 otf2-tools tshark vite zsh
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# $(call missing,PACKAGES): sets $$missing to those of them that are not installed.
missing = missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | \
	grep -q 'ok installed' || echo $$p; done)

# $(call need,PACKAGES): installs what is missing, and nothing if all is there.
need = $(call missing,$(1)); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; \
	$(SUDO) apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; fi

.PHONY: all setup configure web demo check check-quick check-random coverage manual bench bench-large compare-tcp papers install writable clean help

all: configure
	ninja -C $(BUILD) product

setup:
	@$(call need,$(PACKAGES))
	@command -v npm >/dev/null || { $(call need,$(WEB_PACKAGES)); } || echo "npm not available: no pages of reports"

configure:
	@[ -f $(BUILD)/build.ninja ] || said=$$(meson setup $(BUILD) --prefix=$(PREFIX) -Db_lto=true $(SETUP) 2>&1) || { \
	echo "$$said" | tail -n 4 >&2; \
	$(call missing,$(PACKAGES)); \
	[ -z "$$missing" ] || echo "make: packages that are not installed:" $$missing >&2; \
	echo "make: cannot configure $(BUILD): 'make setup' installs what is missing on Debian" >&2; \
	exit 1; }

# The page of reports. Without npm or its registry it says so, and all else works.
web: configure
	@web/build.sh $(BUILD)/web

demo: setup
	@$(MAKE) --no-print-directory all web
	@$(MAKE) --no-print-directory -C examples/heat demo ORRERY=$(abspath $(BUILD)/orrery) \
		OUT=$(abspath $(BUILD)/examples)

check: setup
	@$(call need,$(CHECK_PACKAGES))
	@$(MAKE) --no-print-directory all web SETUP=-Dfat_objects=true
	@tests/run_all.sh $(BUILD)

# Without the native runs, the sanitizer build and most random schedules.
check-quick: all
	@QUICK=1 tests/run_all.sh $(BUILD)

# Random MPI programs in all ways to run them, with new seeds, for SECONDS; START is the first seed.
SECONDS ?= 600
START ?=
check-random: all
	@python3 tests/run_random.py --orrery $(BUILD)/orrery --build-dir $(BUILD)/random-tests --seconds $(SECONDS) \
		$(if $(START),--start $(START))

# The page that lists what is supported of MPI.
coverage:
	@python3 api/generate.py api/mpi_functions.txt docs --only mpi-coverage.md

# The list of settings in the manual, and the schema of platform files, from the program's tables.
manual: all
	@tools/check-docs --renew $(BUILD)/orrery

bench: setup
	@$(MAKE) --no-print-directory all
	@$(call need,libsimgrid-dev) || echo "libsimgrid-dev not available: no comparison with SMPI"
	@$(call need,libns3-dev) || echo "libns3-dev not available: no comparison with ns-3"
	@ninja -C $(BUILD) bench/trace_rates >/dev/null
	@python3 bench/run.py --orrery $(BUILD)/orrery --build-dir $(BUILD)/bench-run

# Patterns of MPI, and flows that share a slow link, over TCP of the simulator and of the kernel: needs root, about half an hour.
compare-tcp: all
	@$(MAKE) --no-print-directory -C examples/packet demo contended ORRERY=$(abspath $(BUILD)/orrery) \
		OUT=$(abspath $(BUILD)/examples/packet)

# What the papers that Orrery builds on have evaluated: all of it, or that of one, such as papers-zhang.
papers: papers-demo

papers-%: setup
	@$(call need,$(PAPERS_PACKAGES))
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory -C examples/papers $* ORRERY=$(abspath $(BUILD)/orrery) \
		OUT=$(abspath $(BUILD)/papers) NAS=$(if $(NAS),$(abspath $(NAS)))

bench-large: all
	@python3 bench/run.py --orrery $(BUILD)/orrery --build-dir $(BUILD)/bench-run --large

# The page of reports is built before, if npm is there; otherwise web/build.sh says what is missing. Nothing is configured
# again without need: for root, who installs what a user has built, would then own files in that build.
install: writable
	@$(MAKE) --no-print-directory web
	@[ "$$(meson introspect $(BUILD) --buildoptions | python3 -c 'import json, sys; \
	print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')" = "$(PREFIX)" ] || \
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	ninja -C $(BUILD) product
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

writable:
	@[ ! -e $(BUILD) ] || [ -w $(BUILD) ] || { echo "make: cannot write to $(BUILD), where installing keeps its notes:" \
	"install as its owner, $$(stat -c %U $(BUILD)), or as root" >&2; exit 1; }

clean:
	rm -rf $(BUILD)

help:
	@echo "make demo         install what is missing, build, simulate an example"
	@echo "make check        install what is missing, build, run all tests"
	@echo "make check-quick  build, run the tests that take little time"
	@echo "make check-random build, run random MPI programs for SECONDS (now $(SECONDS)) from seed START on"
	@echo "make setup        install what is missing (Debian), and nothing else"
	@echo "make              build into $(BUILD)/; $(BUILD)/orrery runs in place"
	@echo "make install      to PREFIX (now $(PREFIX)), honours DESTDIR"
	@echo "make web          bundle the page of 'orrery report' (needs npm and its registry)"
	@echo "make coverage     renew docs/mpi-coverage.md from the list of MPI calls"
	@echo "make manual       renew the list of settings in the manual and the schema"
	@echo "make bench        install what is missing, build, measure speed and memory"
	@echo "make compare-tcp  TCP of the simulator beside the kernel's, on a slow link (as root)"
	@echo "make papers       run the evaluations of the papers again (about an hour)"
	@echo "make bench-large  27 million ranks (needs 12 GB)"
	@echo "make clean        remove $(BUILD)/"
