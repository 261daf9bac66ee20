/* What a C++ class with virtual functions refers to and no kernel ever calls: a kernel has no heap to give back to. */
#include <stddef.h>
#include <stdlib.h>

void delete_object(void *object) __asm__("_ZdlPv");
void delete_object(void *object)
{
    (void)object;
    abort();
}

void delete_object_of(void *object, size_t bytes) __asm__("_ZdlPvm");
void delete_object_of(void *object, size_t bytes)
{
    (void)object, (void)bytes;
    abort();
}

void __cxa_pure_virtual(void);
void __cxa_pure_virtual(void)
{
    abort();
}
