"""Writes docs/papers.md from what the evaluations have found."""

import json

INTRODUCTION = """# The papers' evaluations, reproduced

Orrery brings together what five papers showed in prototypes. This page runs their evaluations again with it: what they ran
and reported, what we ran and measured, and whether what they conclude holds here. `make papers` makes it, and
`make papers-NAME` the part of one paper; nothing on it is typed in but what is quoted from the papers. The programs are in
[examples/papers](../examples/papers/README.md). Times of a real computer differ from theirs by the years between; what
counts is the shape, and claims that are exact.

"""


def table(one):
    lines = [f"*{one['caption']}*\n"] if one["caption"] else []
    lines.append("| " + " | ".join(one["head"]) + " |")
    lines.append("|" + "---|" * len(one["head"]))
    lines += ["| " + " | ".join(row) + " |" for row in one["rows"]]
    return "\n".join(lines) + "\n"


def claim(one):
    verdict = "holds" if one["holds"] else "**does not hold**"
    return f"| {one['text']} | {verdict} | {one['found']} |"


def experiment(paper, one):
    text = f"### {one['title']}\n\n*They:* {one['theirs']}\n\n*We:* {one['ours']}\n\n"
    if one.get("missing"):
        return text + f"Not reproduced: {one['missing']}\n\n"
    for entry in one["tables"]:
        text += table(entry) + "\n"
    for plot in one["plots"]:
        text += f"![{one['title']}](papers/{paper}-{plot})\n\n"
    if one["claims"]:
        text += "| claim | here | found |\n|---|---|---|\n" + "\n".join(map(claim, one["claims"])) + "\n\n"
    for note in one["notes"]:
        text += f"{note}\n\n"
    commands = "\n".join(f"    {line}" for line in one["commands"])
    return text + f"Measured on {one['machine']}; commit {one['commit']}, {one['date']}.\n\n{commands}\n\n"


def write(out, docs, papers):
    """out: the folder with what was found, by paper; docs: where the page and its plots go."""
    pictures = docs / "papers"
    pictures.mkdir(parents=True, exist_ok=True)
    text = INTRODUCTION
    for paper in papers:
        path = out / paper.NAME / "found.json"
        text += f"## {paper.TITLE}\n\n{paper.SOURCE}\n\n"
        if not path.exists():
            text += f"Not run yet: `make papers-{paper.NAME}`.\n\n"
            continue
        for one in json.loads(path.read_text()):
            text += experiment(paper.NAME, one)
            for plot in one.get("plots", []):
                (pictures / f"{paper.NAME}-{plot}").write_bytes((out / paper.NAME / plot).read_bytes())
    (docs / "papers.md").write_text(text.rstrip() + "\n")
