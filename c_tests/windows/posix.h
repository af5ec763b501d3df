/* The functions of POSIX that tests call and that mingw-w64 lacks. */
#ifndef THORN_POSIX_H
#define THORN_POSIX_H

#include <direct.h>
#include <io.h>

/* Makes a folder; the last six characters of the path are X. Returns NULL if there is no unused name. */
static inline char *mkdtemp(char *path) { return _mktemp(path) && _mkdir(path) == 0 ? path : NULL; }

/* A test that hangs is ended by the script that runs it. */
static inline unsigned alarm(unsigned seconds) { return (void)seconds, 0; }

/* The size of a page of memory. */
#define _SC_PAGESIZE 0
static inline long sysconf(int name) { return (void)name, 4096; }

#endif
