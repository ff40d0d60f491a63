/* Does nothing, and ignores its arguments: GNU true does more with one than without. */
int main(void) { return 0; }
