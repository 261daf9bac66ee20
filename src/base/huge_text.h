/* A program's code on huge pages. */
#ifndef BASE_HUGE_TEXT_H
#define BASE_HUGE_TEXT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Puts the code of the program's large libraries on huge pages, as a copy of its own: processes that it clones find all of it
 * mapped, where they would fault the file's pages in again one by one. Where the system has no huge pages to give it stays as it
 * is. Returns the bytes that moved. */
unsigned long huge_text(void);

#ifdef __cplusplus
}
#endif

#endif
