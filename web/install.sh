#!/bin/sh
# usage: install.sh DATADIR
# Installs the page of reports, if it was built. Meson calls it, with the variables below.
page=$MESON_BUILD_ROOT/web/report.html
[ -f "$page" ] || exit 0
install -d "$MESON_INSTALL_DESTDIR_PREFIX/$1" && install -m 644 "$page" "$MESON_INSTALL_DESTDIR_PREFIX/$1/"
