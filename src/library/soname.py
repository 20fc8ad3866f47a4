#!/usr/bin/env python3
"""Print the file name by which programs load a library (its soname).

usage: soname.py LIBRARY DIRECTORY COMPILER...

The linker finds the library, in DIRECTORY if that is not empty: an empty program is linked with it.
"""

import os
import re
import subprocess
import sys
import tempfile


def main(library, directory, *compiler):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "empty.so")
        subprocess.run([*compiler, "-shared", "-nostdlib", "-o", made, "-Wl,--no-as-needed",
                        *(["-L" + directory] if directory else []), "-l" + library], check=True)
        listing = subprocess.run(["readelf", "-d", made], check=True, text=True, stdout=subprocess.PIPE,
                                 env={**os.environ, "LC_ALL": "C"}).stdout
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
    if len(names) != 1:
        raise SystemExit(f"-l{library} is not a shared library")
    print(names[0])


main(*sys.argv[1:])
