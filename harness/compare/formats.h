/*
 * formats.h - the formats of `compare --format`, an entry each: the one place that lists them. forms.c makes its table
 * of it, cli/ its choices, help and completions. A new format is a file that says it and an entry here.
 */
#ifndef CUDAL2_COMPARE_FORMATS_H
#define CUDAL2_COMPARE_FORMATS_H

/* ENTRY(name in C, name, what --help says behind the name, how it says a comparison, and that there is none or NULL) */
#define COMPARE_FORMATS(ENTRY)                                                                                         \
    ENTRY(TEXT, "text", ", ", compare_form_text, NULL)                                                                 \
    ENTRY(MARKDOWN, "markdown", " (for a merge request), ", compare_form_markdown, compare_failure_markdown)           \
    ENTRY(JSON, "json", " (every row), ", compare_form_json, compare_failure_json)                                     \
    ENTRY(JUNIT, "junit", " (for a CI system), ", compare_form_junit, compare_failure_junit)                           \
    ENTRY(HTML, "html", " (one page)", compare_form_html, compare_failure_html)

#endif
