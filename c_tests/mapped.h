/* The mappings of this process, as the system lists them in /proc. */

#ifndef THORN_MAPPED_H
#define THORN_MAPPED_H

#include <stdio.h>
#include <string.h>

/* Returns true if a file of this name is mapped. */
static int is_mapped(const char *name) {
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
    if (maps) fclose(maps);
    return found;
}

#endif
