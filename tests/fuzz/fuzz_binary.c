/*
 * fuzz_binary.c - a cubin or a fat binary of any bytes is read within them: its architecture, one of its kernels, the
 * instructions of that and their mix, and the part that a GPU takes.
 */
#include "fuzz.h"

#include "compile/cubin.h"
#include "compile/fatbin.h"
#include "compile/mix.h"
#include "compile/sass.h"

static void read_cubin(const void *bytes, size_t length)
{
    struct cubin_arch arch;
    struct cubin_entry entry;
    struct error err = {0};
    char found[64];
    struct mix mix;
    int code = cubin_arch_of(bytes, length, &arch, &err);
    if (code)
        require_refusal(code, &err);
    else
        (void)cubin_runs_on(&arch, 90);
    code = cubin_read(bytes, length, "gemm", &entry, &err);
    if (code) {
        require_refusal(code, &err);
        return;
    }
    require(entry.n_parameters <= CUBIN_MAX_PARAMETERS && entry.code_bytes <= length);
    for (int cc = 90; cc <= 100; cc += 10) { /* some encodings mean something else from 100 on */
        sass_instructions(entry.code, entry.code_bytes, cc, found, sizeof found);
        require(strlen(found) < sizeof found);
        mix_count(entry.code, entry.code_bytes, cc, &mix);
        require(mix.total <= entry.code_bytes / 16);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int ccs[] = {80, 90, 100};
    struct error err = {0};
    read_cubin(data, size);
    for (size_t i = 0; i < sizeof ccs / sizeof *ccs; i++) {
        struct fatbin_part part;
        int code = fatbin_choose(data, size, ccs[i], &part, &err);
        require(code == 0 || (err.text[0] && !strchr(err.text, '\n') && !part.bytes));
        if (code == 0)
            read_cubin(part.bytes, part.length);
        free(part.bytes);
    }
    return 0;
}
