/* Log lines: prefixes, one write each, truncation, and how log_fatal ends. */
#include "base/log.h"

#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static char last[4 * LOG_LINE_MAX];
static size_t last_length;
static int writes, exit_status;
static jmp_buf after_exit;

static void keep(const char *line, size_t length)
{
    memcpy(last, line, length);
    last[length] = '\0';
    last_length = length;
    writes++;
}

static void jump_out(int status)
{
    exit_status = status;
    longjmp(after_exit, 1);
}

static void return_quietly(int status)
{
    (void)status;
}

static void test_lines(void)
{
    log_set_writer(keep);
    log_error("bad '%s'", "x");
    is_str(last, "orrery: error: bad 'x'\n", "error line");
    log_warn("odd %d", 7);
    is_str(last, "orrery: warning: odd 7\n", "warning line");
    log_note("done");
    is_str(last, "orrery: done\n", "note line");
    is_int(writes, 3, "each line is one write");
}

static void test_quiet(void)
{
    log_set_writer(keep);
    log_set_quiet(1);
    last[0] = '\0';
    log_warn("odd");
    log_note("done");
    is_str(last, "", "neither warnings nor notes");
    log_error("bad");
    is_str(last, "orrery: error: bad\n", "errors");
    log_set_quiet(0);
    log_note("done");
    is_str(last, "orrery: done\n", "notes again");
}

static void test_long_line(void)
{
    char big[2 * LOG_LINE_MAX];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    log_note("%s", big);
    ok(last_length < LOG_LINE_MAX, "a long line is cut");
    is_str(last + last_length - 5, "a...\n", "and says so");
}

static void test_fatal(void)
{
    log_set_exit(jump_out);
    if (setjmp(after_exit) == 0)
        log_fatal("lost %s", "it");
    is_str(last, "orrery: internal error: lost it\n", "fatal line");
    is_int(exit_status, 3, "fatal passes status 3");
    if (setjmp(after_exit) == 0)
        log_fatal_input("wrong %s", "file");
    is_str(last, "orrery: error: wrong file\n", "what the user gave is no internal error");
    is_int(exit_status, 2, "and passes status 2");
}

/* In a child, through the real descriptor: what arrives and how it ends. */
static void test_child(void (*exit_function)(int), const char *name)
{
    int fds[2], status = 0;
    char text[256] = "";
    if (pipe(fds) < 0)
        return;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], 2);
        log_set_writer(NULL);
        log_set_exit(exit_function);
        log_fatal("gone");
    }
    close(fds[1]);
    ssize_t n = read(fds[0], text, sizeof text - 1);
    close(fds[0]);
    waitpid(pid, &status, 0);
    ok(n > 0 && strcmp(text, "orrery: internal error: gone\n") == 0, "%s: line on stderr", name);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%s: exit status 3", name);
}

int main(void)
{
    plan_auto();
    test_lines();
    test_quiet();
    test_long_line();
    test_fatal();
    test_child(NULL, "default exit");
    test_child(return_quietly, "exit function that returns");
    return done_testing();
}
