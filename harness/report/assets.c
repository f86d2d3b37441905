/* The assembler copies the files in: no generated sources, and the files stay plain HTML, CSS and JavaScript. */
#include "report/assets.h"

#define ASSET(name, file)                                                                                              \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global " #name "\n" #name ":\n"                                                                          \
            ".incbin \"harness/report/html/" file "\"\n"                                                               \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

ASSET(asset_page_html, "page.html");
ASSET(asset_page_css, "page.css");
ASSET(asset_model_js, "model.js");
ASSET(asset_table_js, "table.js");
ASSET(asset_charts_js, "charts.js");
ASSET(asset_detail_js, "detail.js");
ASSET(asset_compare_html, "compare.html");
ASSET(asset_compare_js, "compare.js");
ASSET(asset_page_js, "page.js");
