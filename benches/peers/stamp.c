/* Writes the instant of its start (CLOCK_REALTIME, nanoseconds) as a line to standard output. */
#include <stdio.h>
#include <time.h>

int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
    return 0;
}
