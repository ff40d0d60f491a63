/* Does nothing, without a C library: its start costs the system's part of a new process and no more. */
void _start(void) {
#if defined(__x86_64__)
    __asm__ volatile("mov $60, %eax\n\txor %edi, %edi\n\tsyscall");
#elif defined(__aarch64__)
    __asm__ volatile("mov x8, #93\n\tmov x0, #0\n\tsvc #0");
#else
#error "no exit without libc for this processor"
#endif
}
