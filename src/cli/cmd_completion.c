/*
 * cmd_completion.c - `orrery completion`: prints a script that makes a shell complete the command
 * line of orrery. The scripts are short: they pass the words to `orrery completion --words`, which
 * uses the tables (complete.h), and add what only the shell can list. So they stay correct when
 * options change.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/complete.h"

struct request {
    int words; /* the arguments are words of a command line */
};

static int set_words(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->words = 1;
    return 0;
}

static const struct cli_option options[] = {
    {"words", 0, NULL, NULL, NULL, set_words},
    {0},
};

/*
 * bash splits words at '=' and ':', too. The script splits the line again at blanks only, and
 * removes from each candidate the part that bash treats as separate words.
 */
static const char bash[] =
    "# Completion of orrery for bash: source <(orrery completion bash)\n"
    "_orrery()\n"
    "{\n"
    "    local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} cur head='' word about\n"
    "    local -a words\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:blank:]] ]] && words+=('')\n"
    "    local last=${words[${#words[@]}-1]}\n"
    "    [[ $last == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]] && head=${last%\"${last##*[=:]}\"}\n"
    "    cur=${last#\"$head\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r word about; do\n"
    "        case $word in\n"
    "        @files) compopt -o filenames; mapfile -tO ${#COMPREPLY[@]} COMPREPLY < <(compgen -f "
    "-- \"$cur\") ;;\n"
    "        @directories) compopt -o filenames; mapfile -tO ${#COMPREPLY[@]} COMPREPLY < "
    "<(compgen -d -- \"$cur\") ;;\n"
    "        @programs) compopt -o filenames; mapfile -tO ${#COMPREPLY[@]} COMPREPLY < <(\n"
    "            compgen -f -- \"$cur\"; [[ $cur == */* || -z $cur ]] || compgen -c -- \"$cur\") "
    ";;\n"
    "        *) COMPREPLY+=(\"${word#\"$head\"}\") ;;\n"
    "        esac\n"
    "    done < <(\"${words[0]}\" completion --words -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace\n"
    "    return 0\n"
    "}\n"
    "complete -F _orrery orrery\n";

static const char zsh[] =
    "#compdef orrery\n"
    "# Completion of orrery for zsh: a file _orrery in a directory of $fpath, or\n"
    "# source <(orrery completion zsh)\n"
    "_orrery()\n"
    "{\n"
    "    local line word about\n"
    "    local -a names texts open_names open_texts\n"
    "    for line in ${(f)\"$(${words[1]} completion --words -- ${words[2,CURRENT]} "
    "2>/dev/null)\"}; do\n"
    "        word=${line%%$'\\t'*} about=''\n"
    "        [[ $line == *$'\\t'* ]] && about=\"  -- ${line#*$'\\t'}\"\n"
    "        case $word in\n"
    "        @files) compset -P '*[=,]'; _files ;;\n"
    "        @directories) _files -/ ;;\n"
    "        @programs) _files; _command_names -e ;;\n"
    "        *[=:]) open_names+=($word) open_texts+=(\"$word$about\") ;;\n"
    "        *) names+=($word) texts+=(\"$word$about\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#names )) && compadd -l -d texts -a names\n"
    "    (( $#open_names )) && compadd -l -S '' -d open_texts -a open_names\n"
    "}\n"
    "if [[ $funcstack[1] == _orrery ]]; then _orrery \"$@\"; else compdef _orrery orrery; fi\n";

static const char fish[] =
    "# Completion of orrery for fish: orrery completion fish | source\n"
    "function __orrery_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l last (commandline -ct)\n"
    "    for line in ($words[1] completion --words -- $words[2..-1] $last 2>/dev/null)\n"
    "        switch $line\n"
    "            case '@files'\n"
    "                __fish_complete_path $last\n"
    "            case '@directories'\n"
    "                __fish_complete_directories $last\n"
    "            case '@programs'\n"
    "                __fish_complete_path $last\n"
    "                __fish_complete_command\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c orrery -f -a '(__orrery_complete)'\n";

static const struct shell {
    struct cli_word word;
    const char *script;
} shells[] = {
    {{"bash", "source <(orrery completion bash)"}, bash},
    {{"zsh", "source <(orrery completion zsh)"}, zsh},
    {{"fish", "orrery completion fish | source"}, fish},
};
#define SHELLS (sizeof shells / sizeof shells[0])

static void shells_help(struct buf *out)
{
    buf_adds(out, "\nTo try it in a shell that runs:\n");
    for (size_t i = 0; i < SHELLS; i++)
        buf_addf(out, "  %-6s %s\n", shells[i].word.name, shells[i].word.about);
}

static const struct cli_usage usage = {
    .command = "completion",
    .synopsis = "bash|zsh|fish",
    .about = "Prints a script that makes a shell complete commands, options, settings and "
             "platforms. "
             "'make install' puts it where the shell looks.",
    .options = options,
    .more = shells_help,
    CLI_WORDS(shells),
};

static int print_script(const char *name)
{
    const struct shell *shell = (const struct shell *)cli_word_find(&usage, name);
    struct err err;
    struct buf text;
    if (!shell) {
        err_set(&err, ERR_INPUT, "unknown shell '%s': expected bash, zsh or fish", name);
        return cli_fail(&err);
    }
    buf_init(&text);
    buf_adds(&text, shell->script);
    int status = cli_print(&text);
    buf_fini(&text);
    return status;
}

static int completion_main(int argc, char **argv)
{
    struct request q = {0};
    struct err err;
    struct buf text;
    int next, status;

    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    if (q.words) {
        buf_init(&text);
        cli_complete(argc - next, argv + next, &text);
        status = cli_print(&text);
        buf_fini(&text);
        return status;
    }
    if (argc != next + 1) {
        err_set(&err, ERR_INPUT, "one shell is expected, as in: orrery completion bash");
        return cli_fail(&err);
    }
    return print_script(argv[next]);
}

const struct cli_command cli_cmd_completion = {
    .summary = "print a script that completes command lines in a shell",
    .usage = &usage,
    .main = completion_main,
};
