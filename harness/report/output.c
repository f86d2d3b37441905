/*
 * output.c - writes a report's text to a named file of a directory, whole or not at all, or to the stream. Relies on
 * base/file.h. Called by report.c for each form.
 */
#include "report/output.h"

#include "base/file.h"

int output_begin(const struct output *out, struct error *err)
{
    return out->directory ? file_make_directories(out->directory, err) : 0;
}

int output_write(const struct output *out, const char *name, const struct text *text, struct error *err)
{
    char path[4096];
    const char *bytes = text->bytes ? text->bytes : "";
    if (text->failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    if (!out->directory) {
        bool written = fwrite(bytes, 1, text->length, out->stream) == text->length;
        return written && fflush(out->stream) == 0 ? 0 : error_set(err, EXIT_CODE_IO, "cannot write the report");
    }
    int length = snprintf(path, sizeof path, "%s/%s", out->directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return error_set(err, EXIT_CODE_CANTCREATE, "path of the output directory is too long");
    return file_write_atomic(path, bytes, text->length, err);
}
