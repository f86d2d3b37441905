/*
 * formats.h - the formats of `report --format`, an entry each: the one place that lists them. report.c makes its table
 * of it, cli/ its choices, help and completions. A new format is a file that makes it and an entry here.
 */
#ifndef CUDAL2_REPORT_FORMATS_H
#define CUDAL2_REPORT_FORMATS_H

/* ENTRY(name in C, name, what --help says behind the name, what it accepts and gives, how it is made):
 *   FROM_PUBLISHED  it can be made of published files alone
 *   FROM_ONE        it is of one result or journal
 *   GIVES_FILES     it is several files, so that it needs --output
 *   TABLES(ending, add, print)     tables in one file, or one each; `add` takes each table, `print` is its printer
 *   EXPORT(file, function)         one file for another program (exports.h); EXPORTS: two
 *   MADE_BY(function)              anything else */
#define REPORT_FORMATS(ENTRY)                                                                                          \
    ENTRY(TEXT, "text", ", ", FROM_PUBLISHED, TABLES("txt", add_for_readers, print_text))                              \
    ENTRY(MARKDOWN, "markdown", ", ", FROM_PUBLISHED, TABLES("md", add_for_readers, table_print_markdown))             \
    ENTRY(LATEX, "latex", ", ", FROM_PUBLISHED, TABLES("tex", add_for_readers, table_print_latex))                     \
    ENTRY(CSV, "csv", ", ", FROM_PUBLISHED, TABLES("csv", add_csv, NULL))                                              \
    ENTRY(JSON, "json", ": tables; ", FROM_PUBLISHED, TABLES("json", add_json, NULL))                                  \
    ENTRY(FIGURES, "figures", ": what scripts/figures.sh draws; ", FROM_PUBLISHED | GIVES_FILES,                       \
          MADE_BY(make_figures))                                                                                       \
    ENTRY(HTML, "html", ": one page; ", 0, MADE_BY(make_html))                                                         \
    ENTRY(BENCHER, "bencher", ", ", 0, EXPORT("bencher.json", export_bencher))                                         \
    ENTRY(GOOGLE, "google-benchmark", ", ", 0, EXPORT("google-benchmark.json", export_google))                         \
    ENTRY(NVBENCH, "nvbench", ", ", 0, EXPORT("nvbench.json", export_nvbench))                                         \
    ENTRY(GITHUB, "github-action", ", ", GIVES_FILES,                                                                  \
          EXPORTS("github-action-smaller.json", export_github_smaller, "github-action-bigger.json",                    \
                  export_github_bigger))                                                                               \
    ENTRY(PROMETHEUS, "prometheus", ": for other programs; ", 0, EXPORT("cudal2-bench.prom", export_prometheus))       \
    ENTRY(MEDIANS, "medians", ": the time of every round; ", 0, EXPORT("medians.csv", export_medians))                 \
    ENTRY(SHAPES, "shapes", ": a row for each cell, contender and timing; ", 0, EXPORT("shapes.csv", export_shapes))   \
    ENTRY(PAIRS, "pairs", ": a row for each speedup; ", 0, EXPORT("pairs.csv", export_pairs))                          \
    ENTRY(RESULT, "result", ": what a run would have made of its journal; ", FROM_ONE, MADE_BY(make_result))

#endif
