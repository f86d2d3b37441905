/* report/page: one page that needs nothing else, whose data cannot end the script that holds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "opened_result.h"
#include "report/page.h"

#define CELL                                                                                                           \
    "{\"key\":\"offline/f16-f32-64x128x256\",\"m\":64,\"n\":128,\"k\":256,\"dtype\":\"f16\",\"accumulate\":\"f32\","   \
    "\"mode\":\"offline\",\"label\":\"</"                                                                              \
    "script><b>\",\"status\":\"partial\",\"headline\":\"device\",\"converged\":true,"                                  \
    "\"contenders\":{\"a-nn\":{\"status\":\"ok\",\"timings\":{\"device\":{\"median_ns\":4000},\"event\":null}},"       \
    "\"b-nn\":{\"status\":\"wrong_result\",\"reason\":\"off by 1\"}},"                                                 \
    "\"speedups\":[{\"candidate\":\"a-max\",\"reference\":\"r\",\"timing\":\"device\",\"geomean\":0.25,"               \
    "\"ci95\":[0.2,0.3]}]}"

static char *page_of(const char *json, int *code)
{
    struct dataset none = {0};
    struct text out = {0};
    struct error err = {0};
    struct result *result = opened_text(json);
    *code = page_make(result, &none, NULL, &out, &err);
    result_free(result);
    return out.bytes;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static void the_page_is_whole(void **state)
{
    int code;
    (void)state;
    char *page = page_of("{\"run\":{},\"env\":[],\"summary\":{},\"cells\":[" CELL "]}", &code);
    assert_int_equal(code, 0);
    assert_null(strstr(page, "@@"));
    assert_null(strstr(page, "http://"));
    assert_null(strstr(page, "https://"));
    assert_null(strstr(page, " src="));
    assert_int_equal(count(page, "</script>"), 2); /* the data's and the program's own */
    assert_non_null(strstr(page, "\\u003c/script>\\u003cb>"));
    free(page);
}

static void the_data_holds_times_speedups_and_failures(void **state)
{
    struct dataset none = {0};
    struct text out = {0};
    (void)state;
    struct result *result = opened_text("{\"run\":{},\"env\":[],\"summary\":{},\"cells\":[" CELL "]}");
    page_data(result, &none, "between <runs>", &out);
    cJSON *data = cJSON_Parse(out.bytes);
    assert_non_null(data);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(data, "groups")), 1);
    assert_non_null(strstr(out.bytes, "\"t\":[[0,4000,null,null"));
    assert_non_null(strstr(out.bytes, "\"x\":[[1,\"wrong_result\",\"off by 1\"]]"));
    assert_non_null(strstr(out.bytes, "\"p\":[0,25000,-5000,5000,null]"));
    assert_non_null(strstr(out.bytes, "\"pairs\":[[[2,\"device\",3]]]"));
    assert_non_null(strstr(out.bytes, "\"between\":\"between <runs>\""));
    cJSON_Delete(data);
    result_free(result);
    text_free(&out);
}

static void no_cells_no_page(void **state)
{
    int code;
    (void)state;
    free(page_of("{\"run\":{},\"cells\":[]}", &code));
    assert_int_equal(code, EXIT_CODE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(the_data_holds_times_speedups_and_failures),
        cmocka_unit_test(no_cells_no_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
