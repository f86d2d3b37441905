/*
 * cmd_init.c - `init`: a config to start from. What must be there is there, every other key is a comment with its
 * default and what it means, from the table of config/fields.h. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/fields.h"

#define WIDTH 100u

/* Keys that are no plain fields, with an example where there is no one default. */
static const struct {
    const char *key, *value, *help;
} words[] = {
    {"name", "\"mine\"", "Name of the run in reports. Default: the name of this file."},
    {"dtype", "\"native\"", "Type of A, B and C: f16, bf16, f32, or native (f16 on a GPU, f32 on the CPU)."},
    {"accumulate", "[\"f16\"]",
     "Accumulate types, f16 and f32, each with results of its own. Only dtype f16 knows f16. Default: f16 with f16."},
    {"layouts", "[\"nn\", \"tn\"]", "Layouts to race: nn (B row-major), tn (B column-major)."},
    {"modes", "[\"offline\", \"server\"]", "offline: launches back to back; server: each after an idle gap."},
    {"baselines", "[\"torch.matmul\", \"cublas\", \"cublaslt-heuristic\", \"cublaslt-autotuning\"]",
     "Whom to compare with: a family, or a path to a plugin (.so) from this file's directory. Default: these on a GPU, "
     "with f16 accumulation also cublaslt-autotuning-32f; torch.matmul and openblas on the CPU."},
    {"candidates", "[\"cudal2\"]",
     "What is judged: a kernel set, or a path to a manifest (.json) or plugin (.so) from this file's directory. "
     "Default: cudal2 on a GPU, blocked on the CPU; nobody where baselines are named."},
    {"optional", "[]",
     "Baselines and candidates that a machine may lack. Who is named and not optional must be measured, or the exit "
     "status is 2. Default: whoever is not named."},
    {"timing", "\"device\"",
     "The time that counts: device (the GPU's, of the work alone), event, or wall (the host's clock; on the CPU "
     "always)."},
    {"aa", "false", "true: also race a copy of the first candidate, which shows how often chance is taken for a lead."},
    {"seed", "1", "Seed of every random decision. Default: drawn, and recorded."},
};

static void add_comment(struct text *out, const char *indent, const char *words_of)
{
    size_t width = WIDTH - strlen(indent);
    while (strlen(words_of) > width) {
        size_t cut = width;
        while (cut > 0 && words_of[cut] != ' ')
            cut--;
        text_add(out, "%s%.*s\n", indent, (int)cut, words_of);
        words_of += cut + 1;
    }
    text_add(out, "%s%s\n", indent, words_of);
}

static void add_choices(struct text *out, const char *indent, const struct config_field *field)
{
    if (!field->choices)
        return;
    text_add(out, "%sOne of", indent);
    for (int i = 0; field->choices[i]; i++)
        text_add(out, "%s %s", i ? "," : "", field->choices[i]);
    text_add(out, ".\n");
}

/* Each with its default; `lead` stands before the key. */
static void add_fields(struct text *out, const char *section, const char *comment, const char *lead)
{
    struct config standard;
    config_defaults(&standard);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; object && i < config_n_fields; i++) {
        const struct config_field *field = &config_fields[i];
        if (strcmp(field->section, section) != 0)
            continue;
        config_field_write(field, &standard, object);
        char *value = json_print(cJSON_GetObjectItemCaseSensitive(object, field->key), false);
        add_comment(out, comment, field->help);
        add_choices(out, comment, field);
        text_add(out, "%s\"%s\": %s,\n", lead, field->key, value ? value : "null");
        free(value);
    }
    out->failed |= !object;
    cJSON_Delete(object);
}

static void add_sections(struct text *out)
{
    for (int i = 0; config_sections[i]; i++) {
        text_add(out, "\n  // \"%s\": {\n", config_sections[i]);
        add_fields(out, config_sections[i], "  //   // ", "  //   ");
        text_add(out, "  // },\n");
    }
}

static void add_all(struct text *out)
{
    text_add(out,
             "// A config of " PROGRAM_NAME ": JSON, in which comments and a comma behind the last entry are allowed.\n"
             "// Only the shapes are needed. Every other key is commented out, with its default where it has one.\n"
             "//   " PROGRAM_NAME " run --config THIS_FILE\n"
             "{\n"
             "  // M, N and K of C (M x N) = A (M x K) * B (K x N). With a name for reports a shape is written\n"
             "  // {\"m\": 16, \"n\": 4096, \"k\": 4096, \"label\": \"decode\"}. Every combination of some sizes, in "
             "place of\n"
             "  // this list: \"grid\": {\"m\": [64, 4096], \"n\": [4096], \"k\": [64, 4096]}\n"
             "  // Leading dimensions, and alpha * A * B + beta * C, on the CPU: "
             "\"64x96x128:lda=136:alpha=0.5:beta=1\"\n"
             "  \"shapes\": [\"1024x1024x1024\", \"64x4096x4096\"],\n");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        text_add(out, "\n");
        add_comment(out, "  // ", words[i].help);
        text_add(out, "  // \"%s\": %s,\n", words[i].key, words[i].value);
    }
    text_add(out, "\n");
    add_fields(out, "", "  // ", "  // ");
    add_sections(out);
    text_add(out, "}\n");
}

int command_init(struct error *err)
{
    struct text out = {0};
    add_all(&out);
    int code = out.failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for a config") : 0;
    if (!code)
        fputs(out.bytes, stdout);
    text_free(&out);
    return code;
}
