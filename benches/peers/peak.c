/* Runs a line for sh and prints the KiB of the largest process in it. A process of its own: what a forking parent holds
   would be counted. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int status;
    struct rusage used;
    pid_t child = argc == 2 ? fork() : -1;
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", argv[1], (char *)0);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0) return 2;
    fprintf(stderr, "%ld\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
