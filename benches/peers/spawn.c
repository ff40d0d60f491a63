/* The floor of a worker: COUNT times COMMAND by posix_spawn, from JOBS threads, each with a pipe on its standard input that
   is written and closed, and waited for. Nothing is durable, captured, or armed with a timeout. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static atomic_long left;
static char *command;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void *run(void *unused) {
    (void)unused;
    while (atomic_fetch_sub(&left, 1) > 0) {
        int ends[2], status;
        pid_t child;
        char *argv[] = {command, NULL};
        posix_spawn_file_actions_t actions;
        if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
        if (posix_spawn(&child, command, &actions, NULL, argv, environ) != 0) die("spawn");
        posix_spawn_file_actions_destroy(&actions);
        close(ends[0]);
        if (write(ends[1], "payload", 7) < 0) { /* it read nothing and is gone */ }
        close(ends[1]);
        if (waitpid(child, &status, 0) < 0 || status != 0) die("wait");
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    signal(SIGPIPE, SIG_IGN); /* a command that does not read */
    int jobs = atoi(argv[1]);
    left = atol(argv[2]);
    command = argv[3];
    pthread_t threads[64];
    if (jobs > 64) return 2;
    for (int n = 0; n < jobs; n++)
        if (pthread_create(&threads[n], NULL, run, NULL) != 0) die("thread");
    for (int n = 0; n < jobs; n++) pthread_join(threads[n], NULL);
    return 0;
}
