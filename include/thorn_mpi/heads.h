/**
 * @file heads.h
 * @brief Headers of .npy and safetensors files, as far as MPI-IO needs them. Included by thorn_mpi.h.
 */

#ifndef THORN_MPI_HEADS_H
#define THORN_MPI_HEADS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor in a file: dtype, sizes, the byte at which the elements begin, and their order. Rank 0 broadcasts this
 * struct with the status and the message of rank 0. */
typedef struct th_mpi_head {
    int64_t status;
    int64_t dtype;
    int64_t dims;
    int64_t offset;
    int64_t is_fortran;
    int64_t size[1024];
    char text[1024];
} th_mpi_head;

/* A growing string. `text` is NULL after an allocation has failed. */
typedef struct th_mpi_text {
    char *text;
    size_t length;
    size_t room;
} th_mpi_text;

static inline void th_mpi_append(th_mpi_text *to, const char *text, size_t length) {
    if (to->length + length >= to->room) {
        size_t room = 2 * to->room + length + 256;
        char *grown = to->room > 0 && !to->text ? NULL : (char *)realloc(to->text, room);
        if (!grown) free(to->text);
        to->text = grown;
        to->room = room;
    }
    if (to->text) memcpy(to->text + to->length, text, length);
    to->length += length;
}

TH_MPI_FORMAT(2, 3) static inline void th_mpi_print(th_mpi_text *to, const char *format, ...) {
    char text[128];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    th_mpi_append(to, text, (size_t)length);
}

/* Pads a header with spaces, until header and `before` preceding bytes together are a multiple of `unit` bytes. */
static inline void th_mpi_pad(th_mpi_text *to, size_t before, size_t unit) {
    while ((to->length + before) % unit) th_mpi_append(to, " ", 1);
}

static inline void th_mpi_print_sizes(th_mpi_text *to, int dims, const int64_t *size) {
    for (int d = 0; d < dims; d++) th_mpi_print(to, d ? ", %lld" : "%lld", (long long)size[d]);
}

/* Makes the header of a .npy file. */
static inline THStatus th_mpi_npy_header(th_mpi_text *to, THMpiCall *call, THDtype dtype, int dims, const int64_t *size) {
    static const char *const names[] = {NULL, "|u1", "|i1", "<i2", "<i4", "<i8", "<f2", NULL, "<f4", "<f8", "|b1"};
    th_mpi_text dict = {NULL, 0, 0};
    if (!names[dtype]) return th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: NumPy has no %s", call->what, THDtype_name(dtype));
    th_mpi_print(&dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", names[dtype]);
    th_mpi_print_sizes(&dict, dims, size);
    th_mpi_print(&dict, dims == 1 ? ",), }" : "), }");
    th_mpi_pad(&dict, 11, 64);
    th_mpi_append(&dict, "\n", 1);
    char head[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(dict.length & 255), (char)(dict.length >> 8)};
    th_mpi_append(to, head, sizeof head);
    if (dict.text) th_mpi_append(to, dict.text, dict.length);
    const int enough = dict.text && to->text;
    free(dict.text);
    return enough ? TH_OK : th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for the header", call->what);
}

/* Appends a JSON string. */
static inline void th_mpi_print_string(th_mpi_text *to, const char *text) {
    th_mpi_append(to, "\"", 1);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') th_mpi_append(to, "\\", 1);
        if ((unsigned char)*c < 0x20) th_mpi_print(to, "\\u%04x", (unsigned)*c);
        else th_mpi_append(to, c, 1);
    }
    th_mpi_append(to, "\"", 1);
}

/* Appends the entry of a tensor to the header of a safetensors file. */
static inline void th_mpi_print_entry(th_mpi_text *to, const char *name, THDtype dtype, int dims, const int64_t *size, int64_t from,
                                      int64_t end) {
    static const char *const names[] = {"", "U8", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64", "BOOL"};
    th_mpi_append(to, to->length ? "," : "{", 1);
    th_mpi_print_string(to, name);
    th_mpi_print(to, ":{\"dtype\":\"%s\",\"shape\":[", names[dtype]);
    th_mpi_print_sizes(to, dims, size);
    th_mpi_print(to, "],\"data_offsets\":[%lld,%lld]}", (long long)from, (long long)end);
}

/* Skips white space. The header is valid, because libthorn has already parsed the header, and is NUL-terminated. */
static inline const char *th_mpi_blanks(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    return at;
}

/* Decodes the character of a JSON string at `*at` as UTF-8 into `to`, and advances `*at` to the next character. Returns
 * the number of bytes. */
static inline int th_mpi_character(const char **at, char *to) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *c = *at;
    if (*c != '\\') return *to = *c, *at = c + 1, 1;
    if (c[1] != 'u') {
        const char *found = strchr(names, c[1]);
        *to = found ? meant[found - names] : c[1];
        *at = c + (c[1] ? 2 : 1);
        return 1;
    }
    unsigned code = 0, low = 0;
    if (sscanf(c, "\\u%4x", &code) != 1) return *at = c + 1, 0;
    *at = c + 6;
    if (code >> 10 == 0x36 && sscanf(c + 6, "\\u%4x", &low) == 1) {
        code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
        *at = c + 12;
    }
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = length - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(lead[length] | code);
    return length;
}

/* Returns 1 if the JSON string at `*at` equals `text`. Advances `*at` past the string. */
static inline int th_mpi_is_string(const char **at, const char *text) {
    int same = 1;
    const char *c = *at + 1;
    while (*c && *c != '"') {
        char character[4];
        int length = th_mpi_character(&c, character);
        same = same && *text && strncmp(text, character, (size_t)length) == 0;
        if (same) text += length;
    }
    *at = *c ? c + 1 : c;
    return same && !*text;
}

/* Skips a JSON value. */
static inline const char *th_mpi_skip(const char *at) {
    int depth = 0;
    do {
        at = th_mpi_blanks(at);
        if (*at == '"') th_mpi_is_string(&at, "");
        else if (*at) depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']'), at++;
        while (*at && !strchr("{}[]\",: \t\r\n", *at)) at++;
        if (depth > 0) at += strspn(at, ",: \t\r\n");
    } while (*at && depth > 0);
    return at;
}

/* Returns the value of a key of the JSON object at `at`; NULL if the object lacks the key. */
static inline const char *th_mpi_find(const char *at, const char *key) {
    for (at = th_mpi_blanks(at); *at == '{' || *at == ',';) {
        at = th_mpi_blanks(at + 1);
        if (*at != '"') return NULL;
        int found = th_mpi_is_string(&at, key);
        at = th_mpi_blanks(at);
        if (*at != ':') return NULL;
        at = th_mpi_blanks(at + 1);
        if (found) return at;
        at = th_mpi_blanks(th_mpi_skip(at));
    }
    return NULL;
}

/* Reads `length` bytes of a file, starting at `offset`, as a NUL-terminated string. The caller frees the string. NULL
 * if reading or the allocation fails. */
static inline char *th_mpi_new_part_of_file(FILE *file, long offset, size_t length) {
    char *text = length < SIZE_MAX ? (char *)malloc(length + 1) : NULL;
    if (text && (fseek(file, offset, SEEK_SET) != 0 || fread(text, 1, length, file) != length)) {
        free(text);
        return NULL;
    }
    if (text) text[length] = '\0';
    return text;
}

/* Returns the unsigned number in the `bytes` little-endian bytes at `at`. */
static inline uint64_t th_mpi_little(const char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | (unsigned char)at[i];
    return value;
}

/* Finds the offset and the order of the elements of a .npy file. */
static inline THStatus th_mpi_find_npy(th_mpi_head *head, THMpiCall *call, FILE *file) {
    char *begin = th_mpi_new_part_of_file(file, 0, 12), *dict = NULL;
    if (begin) {
        const int wide = begin[6] > 1;
        const size_t length = (size_t)th_mpi_little(begin + 8, wide ? 4 : 2);
        head->offset = (int64_t)length + (wide ? 12 : 10);
        dict = th_mpi_new_part_of_file(file, wide ? 12 : 10, length);
    }
    free(begin);
    if (!dict) return th_mpi_fail(TH_ERR_IO, "%s: the header cannot be read again", call->what);
    const char *type = strstr(dict, "descr"), *order = strstr(dict, "fortran_order");
    type = type ? strpbrk(type + 5, "<>|=") : NULL;
    order = order ? strpbrk(order, "TF") : NULL;
    const int64_t item = (int64_t)THDtype_size((THDtype)head->dtype);
    const int native = type && *type != '>' && atoi(type + 2) == (int)item;
    head->is_fortran = order && *order == 'T';
    free(dict);
    return native ? TH_OK : th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: the elements have another byte order or type than here", call->what);
}

/* Finds the offset of the elements of a tensor in a safetensors file. */
static inline THStatus th_mpi_find_safetensors(th_mpi_head *head, THMpiCall *call, FILE *file, const char *name) {
    char *begin = th_mpi_new_part_of_file(file, 0, 8), *text = NULL;
    size_t length = begin ? (size_t)th_mpi_little(begin, 8) : 0;
    long long from = -1, end = -1;
    if (begin) text = th_mpi_new_part_of_file(file, 8, length);
    free(begin);
    const char *entry = text ? th_mpi_find(text, name) : NULL;
    const char *offsets = entry ? th_mpi_find(entry, "data_offsets") : NULL;
    int found = offsets ? sscanf(offsets, " [ %lld , %lld", &from, &end) : 0;
    int64_t bytes = (int64_t)THDtype_size((THDtype)head->dtype);
    for (int d = 0; d < head->dims; d++) bytes *= head->size[d];
    free(text);
    if (found != 2) return th_mpi_fail(TH_ERR_IO, "%s: the header cannot be read again", call->what);
    head->offset = 8 + (int64_t)length + from;
    if (end - from == bytes) return TH_OK;
    return th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: '%s' has elements that thorn converts", call->what, name);
}

/* Reads the header of a file on one rank. libthorn validates the header; only offset and order are parsed here. */
static inline THStatus th_mpi_read_head(th_mpi_head *head, THMpiCall *call, const char *path, const char *name) {
    THArchive *archive = THArchive_open(path);
    if (!archive) return th_mpi_passed_on(call->what);
    const THFileFormat format = THArchive_format(archive);
    const int64_t index = name ? THArchive_find(archive, name) : 0, count = THArchive_count(archive);
    THStatus status = TH_OK;
    if (format != TH_FILE_NPY && format != TH_FILE_SAFETENSORS) {
        status = th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: %s is neither a .npy nor a safetensors file", call->what, path);
    } else if (index < 0 || (!name && count != 1)) {
        if (name) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: %s has no tensor '%s'", call->what, path, name);
        else status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: %s has %lld tensors; say which", call->what, path, (long long)count);
    } else {
        head->dtype = THArchive_dtype(archive, index);
        head->dims = THArchive_ndim(archive, index);
        if (head->dtype == TH_UNDEFINED || head->dims < 0) {
            status = th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: %s has elements that thorn does not have", call->what, path);
        } else if (head->dims > 0) {
            memcpy(head->size, THArchive_sizes(archive, index), (size_t)head->dims * sizeof *head->size);
        }
    }
    FILE *file = status == TH_OK ? fopen(path, "rb") : NULL;
    if (status == TH_OK && !file) status = th_mpi_fail(TH_ERR_IO, "%s: %s cannot be opened", call->what, path);
    if (status == TH_OK && format == TH_FILE_NPY) status = th_mpi_find_npy(head, call, file);
    else if (status == TH_OK) status = th_mpi_find_safetensors(head, call, file, THArchive_name(archive, index));
    if (file) fclose(file);
    THArchive_free(archive);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
