/*
 * Handwritten digits, as a tensor over the memory of a file that was read (examples/data/README.md has its source).
 */
#ifndef DIGITS_H
#define DIGITS_H

#include "try.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef DIGITS_CSV
#define DIGITS_CSV "examples/data/digits.csv"
#endif

enum { SIDE = 8, PIXELS = SIDE * SIDE, INK = 16, CLASSES = 10 };

// A line of the file: 64 pixels from 0 to 16, then the digit.
typedef struct {
    float pixel[PIXELS];
    float label;
} DigitRow;

// Returns false unless the text is 64 pixels and a label.
static bool parse_row(DigitRow *row, const char *text) {
    for (int i = 0; i < PIXELS; i++) {
        char *end;
        row->pixel[i] = strtof(text, &end);
        if (end == text || *end != ',' || !(row->pixel[i] >= 0 && row->pixel[i] <= INK)) return false;
        text = end + 1;
    }
    if (*text < '0' || *text > '9') return false;
    row->label = (float)(*text - '0');
    return text[1] == '\n' || text[1] == '\0';
}

// Returns all lines, which the caller frees; NULL if there are none, or if the line after `count` is invalid.
static DigitRow *read_rows(FILE *file, int64_t *count) {
    char line[512];
    DigitRow *rows = NULL;
    size_t room = 0;
    for (*count = 0; fgets(line, sizeof line, file); ++*count) {
        if ((size_t)*count == room) {
            room = 2 * room + 1024;
            DigitRow *moved = realloc(rows, room * sizeof *rows);
            if (!moved) goto fail;
            rows = moved;
        }
        if (!parse_row(&rows[*count], line)) goto fail;
    }
    return rows;
fail:
    free(rows);
    return NULL;
}

// Returns NULL, with a message, if the file cannot be opened, is too short or is invalid.
static DigitRow *read_file(const char *path, int64_t *count) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return NULL;
    }
    DigitRow *rows = read_rows(file, count);
    bool complete = rows && !ferror(file);
    fclose(file);
    if (complete) return rows;
    fprintf(stderr, "%s: row %d is missing or broken\n", path, (int)*count + 1);
    free(rows);
    return NULL;
}

static void free_rows(void *rows, void *context) {
    (void)context;
    free(rows);
}

// The digits of a file, [count x 65]: 64 pixels from 0 to 16, then the label. The rows are freed with the last view of
// the tensor. NULL, with a message, if the file cannot be read.
static THTensor *read_digits(const char *path) {
    int64_t count;
    DigitRow *rows = read_file(path, &count);
    if (!rows) return NULL;
    const int64_t size[] = {count, PIXELS + 1};
    THTensor *tensor = THTensor_newFromBlob(TH_FLOAT32, 2, size, NULL, rows, free_rows, NULL);
    if (!tensor) free(rows);
    return tensor;
}

// Prints a line of a digit whose 64 pixels are contiguous, two characters for each pixel.
static inline void draw_line(const float *pixels, int y) {
    static const char shades[] = " .:-=+*#@";
    for (int x = 0; x < SIDE; x++) {
        char shade = shades[(int)pixels[SIDE * y + x] / 2];
        printf("%c%c", shade, shade);
    }
}

#endif
