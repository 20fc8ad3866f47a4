#!/usr/bin/env python3
"""tools/check-uses: it finds what headers offer and the product does not use.

usage: test_uses.py SOURCE_DIR

Prints TAP.
"""

import os
import subprocess
import sys
import tempfile

HEADER = "int m_f(int a,\n        int b);\n"
BODY = '#include "m/m.h"\nint m_f(int a, int b)\n{\n    return a + b;\n}\n'

# what is tested, files, and what is said about them; None: nothing
CASES = [
    ("a function that another file calls",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY, "src/n/n.c": "int main(void)\n{\n    return m_f(1, 2);\n}\n"}, None),
    ("a function that tests alone call",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY, "tests/t.c": "int main(void)\n{\n    return m_f(1, 2);\n}\n"},
     "m/m.h:1: 'm_f' is used by no other file: remove it"),
    ("a function that only its own file calls",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY + "int main(void)\n{\n    return m_f(1, 2);\n}\n"},
     "m/m.h:1: 'm_f' is used by no other file: make it static"),
    ("a function that its own file and a test call",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY + "int main(void)\n{\n    return m_f(1, 2);\n}\n",
      "tests/t.c": "int main(void)\n{\n    return m_f(1, 2);\n}\n"}, None),
    ("a function that comments and strings name",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY, "src/n/n.c": '/* m_f */ const char *name = "m_f"; // m_f\n'},
     "m/m.h:1: 'm_f'"),
    ("a function that generated code calls",
     {"src/m/m.h": HEADER, "src/m/m.c": BODY, "api/generate.py": 'TEXT = "return m_f(a, b);"\n'}, None),
    ("an inline function that nobody calls",
     {"src/m/m.h": "\nstatic inline int m_g(void)\n{\n    return 1;\n}\n"}, "m/m.h:2: 'm_g'"),
    ("an inline function that another one calls",
     {"src/m/m.h": "static inline int m_g(void)\n{\n    return 1;\n}\n#define M_ONE m_g()\n",
      "src/n/n.c": "int one = M_ONE;\n"}, None),
    ("a macro that nobody uses",
     {"src/m/m.h": "#ifndef M_H\n#define M_H\n#define M_MANY \\\n    3\n#endif\n"}, "m/m.h:3: 'M_MANY'"),
    ("a callback in a struct",
     {"src/m/m.h": "struct m {\n    int (*m_call)(int);\n};\n"}, None),
]


def run(tool, files):
    with tempfile.TemporaryDirectory() as top:
        for path, text in files.items():
            name = os.path.join(top, path)
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([sys.executable, tool, os.path.join(top, "src")], text=True, capture_output=True)


def main():
    tool, failed = os.path.join(sys.argv[1], "tools", "check-uses"), 0
    for number, (what, files, wanted) in enumerate(CASES, 1):
        said = run(tool, files)
        good = (wanted in said.stdout and said.returncode == 1 if wanted
                else said.returncode == 0 and not said.stdout and not said.stderr)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {what}")
        if not good:
            print(f"# {said.stdout}{said.stderr}")
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
